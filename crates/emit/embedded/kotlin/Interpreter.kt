// Runs plans. What a channel is and how processes are started is said by the era's own file:
// Channels.kt gives open, put, take, tryPut, tryTake, shut, choose and start.

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong

/** How many runs are under way at once in the style "batched". */
const val BATCH = 50

/** How long a process waits for a second one in the style "barrier", in rounds. */
const val BARRIER_ROUNDS = 300

/** A channel of a run; its number stands for it when it travels over a channel. */
class Numbered(val number: Long, val channel: Chan)

/** An operation of a select that can be begun: a put of [message], a get after which [received] is
 *  the message, or a timeout after [message] milliseconds. */
class Offer(val number: Int, val word: String, val channel: Chan?, val message: Long) {
    @Volatile var received: Long? = null
}

/** What a get gave that did not wait. */
class Tried(val isThere: Boolean, val message: Long?)

/** SplitMix64 (Steele, Lea, Flood 2014). */
class Random(private var state: Long) {
    fun bits(): Long {
        state += -0x61C8864680B583EBL
        var bits = state
        bits = (bits xor (bits ushr 30)) * -0x40A7B892E31B1A47L
        bits = (bits xor (bits ushr 27)) * -0x6B2FB644ECCEEE15L
        return bits xor (bits ushr 31)
    }

    fun below(bound: Int): Int = (((bits() ushr 32) * bound) ushr 32).toInt()
}

class Job(val plan: Plan, val style: String, val perturbation: String, val seed: Long, val repetitions: Long) {
    private val next = AtomicLong()
    private val over = CountDownLatch(1)
    private val left = AtomicLong(repetitions)

    /** Starts the next run, if there is one more. */
    fun startNext() {
        val number = next.getAndIncrement()
        if (number < repetitions) Instance(this, number).start()
    }

    fun ended(number: Long, record: String) {
        Watch.ended(number, record)
        if (left.decrementAndGet() == 0L) over.countDown() else startNext()
    }

    fun perform() {
        if (repetitions == 0L) return
        repeat(if (style == "batched") BATCH else 1) { startNext() }
        over.await()
    }

    private val spun = AtomicInteger()

    private fun spin(rounds: Int) {
        for (round in 0 until rounds) spun.get()
    }

    /** Delays a process before an operation. */
    fun disturb(random: Random) {
        if (perturbation == "light") {
            val drawn = random.below(64)
            when {
                drawn < 6 -> spin(random.below(100))
                drawn == 6 -> spin(random.below(1000))
                drawn == 7 -> Thread.yield()
            }
        } else if (perturbation == "heavy") {
            val drawn = random.below(256)
            when {
                drawn < 64 -> spin(random.below(1000))
                drawn < 72 -> spin(random.below(20000))
                drawn < 104 -> Thread.yield()
            }
        }
    }
}

/** One run of a plan. */
class Instance(val job: Job, val number: Long) {
    private val run = Run { job.ended(number, it.record()) }
    private val arrivals = AtomicInteger()
    private val channels = ArrayList<Numbered>()

    fun start() {
        Watch.starts(number, run)
        val main = job.plan.functions[job.plan.main]
        val actor = Actor(this, run.process("main"), main.entry, Array(main.variables) { Unit })
        start { actor.perform() }
    }

    fun open(capacity: Int): Numbered = synchronized(channels) {
        val channel = Numbered(channels.size.toLong(), open_(capacity))
        channels.add(channel)
        channel
    }

    fun channel(number: Long): Numbered? = synchronized(channels) { channels.getOrNull(number.toInt()) }

    /** Lets two processes begin their next operations at the same moment. */
    fun lineUp() {
        val ticket = arrivals.incrementAndGet()
        if (ticket % 2 == 0) return
        var round = 0
        while (round < BARRIER_ROUNDS && arrivals.get() == ticket) round++
    }
}

class Frame(var at: Int, val variables: Array<Any?>)

/** A process at work. */
class Actor(private val instance: Instance, private val process: Process, at: Int, variables: Array<Any?>) {
    private val frames = arrayListOf(Frame(at, variables))
    private val random = Random(instance.job.seed xor (instance.number * -0x5DB4512B69C11BF9L) xor process.name.hashCode().toLong())

    suspend fun perform() {
        try {
            while (frames.isNotEmpty()) {
                val frame = frames[frames.size - 1]
                val instruction = instance.job.plan.instructions[frame.at]
                if (instruction.word == "select") {
                    process.at = frame.at
                    if (instance.job.style == "barrier") instance.lineUp()
                    instance.job.disturb(random)
                    frame.at = communicate(frame, instruction)
                } else {
                    step(frame, instruction)
                }
            }
        } catch (error: Throwable) {
            Watch.failed(error)
            throw error
        }
        Watch.moves.incrementAndGet()
        process.end()
    }

    private fun step(frame: Frame, instruction: Instruction) {
        val variables = frame.variables
        when (instruction.word) {
            "jump" -> {
                frame.at = instruction.at
                return
            }
            "unless" -> if (instruction.value!!.evaluate(variables) == false) {
                frame.at = instruction.at
                return
            }
            "set" -> variables[instruction.slot] = instruction.value!!.evaluate(variables)
            "open" -> variables[instruction.slot] = instance.open(instruction.capacity)
            "spawn" -> {
                val child = Actor(instance, process.child(), instruction.at, variables.copyOf())
                start { child.perform() }
            }
            "choose" -> {
                frame.at = instruction.places[random.below(instruction.places.size)]
                return
            }
            "see" -> process.observed(instruction.value!!.evaluate(variables))
            "close" -> shut((instruction.value!!.evaluate(variables) as Numbered).channel)
            "call" -> {
                val called = instance.job.plan.functions[instruction.at]
                val fresh = Array<Any?>(called.variables) { Unit }
                instruction.arguments.forEachIndexed { number, argument ->
                    fresh[called.params[number]] = argument.evaluate(variables)
                }
                frames.add(Frame(called.entry, fresh))
                return
            }
            "return" -> {
                val result = if (instruction.value == null) Unit else instruction.value.evaluate(variables)
                frames.removeAt(frames.size - 1)
                if (frames.isEmpty()) return
                val caller = frames[frames.size - 1]
                val slot = instance.job.plan.instructions[caller.at].slot
                if (slot >= 0) caller.variables[slot] = result
                caller.at++
                return
            }
        }
        frame.at++
    }

    /** Performs a put, a get or a select and says where to go on. */
    private suspend fun communicate(frame: Frame, instruction: Instruction): Int {
        val variables = frame.variables
        val offers = instruction.cases.mapIndexed { number, case ->
            val channel = (case.channel?.evaluate(variables) as Numbered?)?.channel
            val message = when {
                case.value != null -> wire(case.value.evaluate(variables))
                // How long to wait, in milliseconds: mostly none.
                case.word == "timeout" && random.below(8) == 0 -> 1L
                else -> 0L
            }
            Offer(number, case.word, channel, message)
        }
        if (instruction.at >= 0) return attempt(frame, instruction, offers[0])
        if (instruction.isSingle) {
            val channel = offers[0].channel ?: return forever()
            if (offers[0].word == "put") {
                put(channel, offers[0].message)
                return instruction.cases[0].target
            }
            return received(frame, instruction, 0, take(channel))
        }
        val ready = offers.filter { it.channel != null || it.word == "timeout" }
        val chosen = offers[if (ready.isEmpty()) forever() else choose(ready)]
        return when (chosen.word) {
            "put" -> {
                process.chose(chosen.number)
                instruction.cases[chosen.number].target
            }
            "get" -> received(frame, instruction, chosen.number, chosen.received)
            else -> {
                process.timedOut()
                instruction.cases[chosen.number].target
            }
        }
    }

    /** An operation that does not wait. */
    private fun attempt(frame: Frame, instruction: Instruction, offer: Offer): Int {
        if (instruction.cases.size > 1) throw BadPlan("a select with default has one case here")
        val channel = offer.channel
        if (channel != null && offer.word == "put" && tryPut(channel, offer.message)) {
            process.chose(0)
            return instruction.cases[0].target
        }
        if (channel != null && offer.word == "get") {
            val tried = tryTake(channel)
            if (tried.isThere) return received(frame, instruction, 0, tried.message)
        }
        process.defaulted()
        return instruction.at
    }

    private fun received(frame: Frame, instruction: Instruction, number: Int, word: Long?): Int {
        val case = instruction.cases[number]
        if (!instruction.isSingle) process.chose(number)
        val message = if (word == null) zero(case.kind) else unwire(case.kind, word)
        if (word == null) process.closed() else process.got(message)
        if (case.slot >= 0) frame.variables[case.slot] = message
        if (case.ok >= 0) frame.variables[case.ok] = word != null
        return case.target
    }

    private fun wire(value: Any?): Long = when (value) {
        is Long -> value
        is Boolean -> if (value) 1 else 0
        is Numbered -> value.number
        null -> -1
        else -> 0
    }

    private fun unwire(kind: String, word: Long): Any? = when (kind) {
        "unit" -> Unit
        "bool" -> word != 0L
        "int" -> word
        else -> instance.channel(word)
    }

    private fun zero(kind: String): Any? = when (kind) {
        "unit" -> Unit
        "bool" -> false
        "int" -> 0L
        else -> null
    }
}

/** Serves jobs: `job ID TARGET FLAVOUR STYLE PAYLOAD PERTURBATION SEED REPETITIONS PATIENCE LINES`,
 *  then the lines of the plan. */
fun main(arguments: Array<String>) {
    Watch.look()
    // Some libraries take seconds to load, which no job is to be blamed for.
    open_(0)
    Desk.say("ready 1")
    Desk.flush()
    val input = System.`in`.bufferedReader()
    while (true) {
        val line = input.readLine() ?: break
        val words = line.trim().split(' ')
        if (words == listOf("quit")) break
        if (words.size != 11 || words[0] != "job") {
            System.err.println("a line is not a job: $line")
            System.exit(2)
        }
        val lines = (1..words[10].toInt()).map { input.readLine() ?: "" }
        Watch.begin(words[1].toLong(), words[9].toLong())
        try {
            val seed = java.lang.Long.parseUnsignedLong(words[7])
            Job(readPlan(lines), words[4], words[6], seed, words[8].toLong()).perform()
            Watch.finish("finished")
        } catch (bad: BadPlan) {
            Watch.finish("astray " + bad.message)
        }
    }
    System.exit(0)
}
