import java.util.concurrent.Semaphore

/** Runs every program several times and reports what was seen.
 *  Arguments: how often, patience in milliseconds, the first program. */
fun main(arguments: Array<String>) {
    val numbers = arguments.map { it.toLong() }
    val repetitions = numbers.getOrElse(0) { 10L }
    val patience = numbers.getOrElse(1) { 5000L }
    Watch.look()
    Desk.say("ready 1")
    for (id in numbers.getOrElse(2) { 0L }.toInt() until PROGRAMS) {
        Watch.begin(id.toLong(), patience)
        val over = Semaphore(0)
        for (number in 0 until repetitions) {
            val run = Run {
                Watch.ended(number, it.record())
                over.release()
            }
            Watch.starts(number, run)
            run.process("main").begin { p -> perform(id, p) }
            over.acquire()
        }
        Watch.finish("finished")
    }
    System.exit(0)
}
