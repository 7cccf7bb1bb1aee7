import java.util.concurrent.CountDownLatch

/** Runs the program once and prints what its processes saw. */
fun main(arguments: Array<String>) {
    val over = CountDownLatch(1)
    val run = Run { over.countDown() }
    run.process("main").begin { p -> program(p) }
    over.await()
    println(run.record())
}
