// A run of a program: its processes, and what each of them saw.

import java.util.concurrent.atomic.AtomicInteger

/** A run. [whenOver] is called by the last of its processes to finish. */
class Run(private val whenOver: (Run) -> Unit) {
    private val processes = ArrayList<Process>()
    private val unfinished = AtomicInteger()

    fun process(name: String): Process {
        val process = Process(this, name)
        unfinished.incrementAndGet()
        synchronized(processes) { processes.add(process) }
        return process
    }

    fun ended(process: Process) {
        process.hasEnded = true
        if (unfinished.decrementAndGet() == 0) whenOver(this)
    }

    /** What all processes saw, on one line. */
    fun record(): String = synchronized(processes) {
        val finished = if (processes.all { it.hasEnded }) "finished" else "unfinished"
        val words = processes.filter { it.seen.isNotEmpty() }.map { it.name + "=" + it.seen }
        (listOf(finished) + words.sorted()).joinToString(" ")
    }

    /** Where the processes stand that have not finished. */
    fun stuck(): String = synchronized(processes) {
        processes.filter { !it.hasEnded }.joinToString("") { " " + it.name + "@" + it.at }
    }
}

/** A process. It alone writes what it sees. */
class Process(private val run: Run, val name: String) {
    val seen = StringBuilder()
    @Volatile var at = 0
    @Volatile var hasEnded = false
    private var children = 0

    /** The next process that this one spawns. */
    fun child(): Process {
        children++
        return run.process("$name.$children")
    }

    fun end() = run.ended(this)

    private fun saw(event: String) {
        if (seen.isNotEmpty()) seen.append(',')
        seen.append(event)
    }

    fun got(value: Any?) = saw("r" + show(value))
    fun closed() = saw("x")
    fun observed(value: Any?) = saw("o" + show(value))
    fun chose(number: Int) = saw("#$number")
    fun defaulted() = saw("d")
    fun timedOut() = saw("t")

    /** What a get gave; `null` when there will be nothing any more. */
    fun gotOrClosed(value: Any?) = if (value == null) closed() else got(value)

    private fun show(value: Any?) = when (value) {
        null -> "n"
        is Unit -> "u"
        is Boolean -> if (value) "t" else "f"
        is Long -> value.toString()
        else -> "c"
    }
}
