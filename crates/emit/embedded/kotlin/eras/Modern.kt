// Channels of kotlinx.coroutines 1.5 and later.

import kotlinx.coroutines.*
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.selects.*

typealias Chan = Channel<Long>

fun open_(capacity: Int): Chan = Channel(if (capacity == UNBOUNDED) Channel.UNLIMITED else capacity)

suspend fun put(channel: Chan, message: Long) = channel.send(message)

suspend fun take(channel: Chan): Long? = channel.receiveCatching().getOrNull()

fun tryPut(channel: Chan, message: Long): Boolean = channel.trySend(message).isSuccess

fun tryTake(channel: Chan): Tried {
    val result = channel.tryReceive()
    return Tried(result.isSuccess || result.isClosed, result.getOrNull())
}

fun shut(channel: Chan) {
    channel.close()
}

@OptIn(ExperimentalCoroutinesApi::class)
suspend fun choose(offers: List<Offer>): Int = select<Int> {
    for (offer in offers) {
        val channel = offer.channel
        if (channel == null) {
            onTimeout(offer.message) { offer.number }
        } else if (offer.word == "put") {
            channel.onSend(offer.message) { offer.number }
        } else {
            channel.onReceiveCatching {
                offer.received = it.getOrNull()
                offer.number
            }
        }
    }
}

suspend fun forever(): Int {
    while (true) delay(1_000_000)
}

@OptIn(DelicateCoroutinesApi::class)
fun start(body: suspend () -> Unit) {
    GlobalScope.launch(Dispatchers.Default) { body() }
}
