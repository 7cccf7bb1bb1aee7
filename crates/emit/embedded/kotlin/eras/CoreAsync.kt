// Channels of Clojure's core.async, by its blocking operations. Processes are threads.

import clojure.java.api.Clojure
import clojure.lang.IFn
import clojure.lang.Keyword
import clojure.lang.PersistentVector
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine

typealias Chan = Any

private val async: (String) -> IFn = run {
    Clojure.`var`("clojure.core", "require").invoke(Clojure.read("clojure.core.async"))
    val find = { name: String -> Clojure.`var`("clojure.core.async", name) }
    find
}

private val makeChannel = async("chan")
private val putNow = async(">!!")
private val takeNow = async("<!!")
private val offerNow = async("offer!")
private val pollNow = async("poll!")
private val close = async("close!")
private val timeout = async("timeout")
private val alternatives = async("alts!!")

fun open_(capacity: Int): Chan =
    if (capacity == 0) makeChannel.invoke() else makeChannel.invoke(capacity.toLong())

suspend fun put(channel: Chan, message: Long) {
    putNow.invoke(channel, message)
}

suspend fun take(channel: Chan): Long? = takeNow.invoke(channel) as Long?

fun tryPut(channel: Chan, message: Long): Boolean = offerNow.invoke(channel, message) == true

/** `poll!` does not tell a closed channel from an empty one, so this asks by `alts!!`. */
fun tryTake(channel: Chan): Tried {
    val ports = PersistentVector.create(channel)
    val answer = alternatives.invoke(ports, Keyword.intern("default"), Keyword.intern("nothing")) as List<*>
    return if (answer[1] === channel) Tried(true, answer[0] as Long?) else Tried(false, null)
}

fun shut(channel: Chan) {
    close.invoke(channel)
}

suspend fun choose(offers: List<Offer>): Int {
    val timer = timeout.invoke(offers.firstOrNull { it.channel == null }?.message ?: 0L)
    val ports = offers.map {
        when (it.word) {
            "put" -> PersistentVector.create(it.channel, it.message)
            "get" -> it.channel
            else -> timer
        }
    }
    val answer = alternatives.invoke(PersistentVector.create(ports)) as List<*>
    val chosen = offers.first { (it.channel ?: timer) === answer[1] }
    if (chosen.word == "get") chosen.received = answer[0] as Long?
    return chosen.number
}

suspend fun forever(): Int {
    while (true) Thread.sleep(1_000_000)
}

private val threads = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }

fun start(body: suspend () -> Unit) {
    threads.execute {
        body.startCoroutine(object : Continuation<Unit> {
            override val context = EmptyCoroutineContext
            override fun resumeWith(result: Result<Unit>) {
                result.exceptionOrNull()?.let { throw it }
            }
        })
    }
}
