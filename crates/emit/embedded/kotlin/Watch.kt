// Looks after a job: reports, signs of life, hangs and exceptions.

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicLong

/** Reports go out by one writer, a line each. */
object Desk {
    private val out = java.io.PrintStream(java.io.FileOutputStream(java.io.FileDescriptor.out), false)

    fun say(line: String) = synchronized(this) {
        out.print(line)
        out.print('\n')
    }

    fun flush() = synchronized(this) { out.flush() }
}

/** What was seen, how often, and in which run first. */
class Tally(val first: Long) {
    var count = 0L
}

/** The job under way. */
object Watch {
    val moves = AtomicLong()
    private var isActive = false
    private var id = 0L
    private var patience = 0L
    private var begun = 0L
    private var runs = 0L
    private var total = 0L
    private val seen = LinkedHashMap<String, Tally>()
    private val current = LinkedHashMap<Long, Run>()

    fun begin(id: Long, patience: Long) = synchronized(this) {
        Desk.say("begin $id")
        Desk.flush()
        isActive = true
        this.id = id
        this.patience = patience
        begun = System.nanoTime()
        runs = 0
        seen.clear()
        current.clear()
        moves.incrementAndGet()
    }

    fun starts(number: Long, run: Run) = synchronized(this) { current[number] = run }

    fun ended(number: Long, record: String) = synchronized(this) {
        current.remove(number)
        runs++
        total++
        seen.getOrPut(record) { Tally(number) }.count++
        moves.incrementAndGet()
    }

    /** Reports how the job ended. */
    fun finish(how: String) = synchronized(this) {
        isActive = false
        for ((record, tally) in seen) Desk.say("seen $id ${tally.count} ${tally.first} $record")
        Desk.say("end $id $runs ${(System.nanoTime() - begun) / 1000} $how")
        Desk.flush()
    }

    /** An exception of the runtime ends the job, and with it the process: others may be stuck. */
    fun failed(error: Throwable) {
        synchronized(this) {
            if (!isActive) return
            finish("panicked " + describe(error).replace("\n", "\\n"))
        }
        Runtime.getRuntime().halt(0)
    }

    /** The exception and the beginning of its stack; of a stack that has overflowed, one round of
     *  what repeats, so that the same fault looks the same each time. */
    fun describe(error: Throwable): String {
        val frames = error.stackTrace.map { it.toString() }
        val shown = if (error is StackOverflowError) round(frames) else frames.take(40)
        val cause = error.cause
        val more = if (cause == null || cause === error) "" else "\nCaused by: $cause"
        return "$error\n" + shown.joinToString("\n") { "  at $it" } + more
    }

    private fun round(frames: List<String>): List<String> {
        val deep = frames.drop(100)
        val length = (1..200).firstOrNull { length ->
            deep.size > 3 * length && (0 until 2 * length).all { deep[it] == deep[it + length] }
        } ?: return frames.take(40)
        val start = (0 until length).sortedBy { deep[it] }.first()
        return deep.subList(start, start + length)
    }

    /** Notices a hang: nothing has moved for as long as the patience lasts. */
    fun look() {
        Thread.setDefaultUncaughtExceptionHandler { _, error -> failed(error) }
        val thread = Thread {
            var last = -1L
            var since = System.nanoTime()
            var beat = since
            while (true) {
                Thread.sleep(20)
                val now = System.nanoTime()
                synchronized(this) {
                    if (!isActive || moves.get() != last) {
                        last = moves.get()
                        since = now
                    }
                    if (isActive && now - beat > 250_000_000L) {
                        beat = now
                        Desk.say("beat $id $total ${moves.get()}")
                        Desk.flush()
                    }
                    if (isActive && now - since > patience * 1_000_000L) hung()
                }
            }
        }
        thread.isDaemon = true
        thread.start()
    }

    private fun hung() {
        val stuck = current.entries.firstOrNull { it.value.stuck() != "" } ?: return
        dump()
        finish("hung ${stuck.key}${stuck.value.stuck()} : ${stuck.value.record()}")
        Runtime.getRuntime().halt(0)
    }

    /** All threads to stderr, those first that wait for each other's locks. */
    private fun dump() {
        val threads = ManagementFactory.getThreadMXBean()
        val deadlocked = threads.findDeadlockedThreads()
        if (deadlocked != null) {
            System.err.println("Found one Java-level deadlock:")
            for (info in threads.getThreadInfo(deadlocked, 100)) if (info != null) System.err.print(info)
            System.err.println("End of deadlocks")
        }
        for ((thread, frames) in Thread.getAllStackTraces()) {
            System.err.println("\"${thread.name}\" ${thread.state}")
            for (frame in frames) System.err.println("  at $frame")
        }
        System.err.flush()
    }
}
