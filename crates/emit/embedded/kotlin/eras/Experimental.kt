// Channels of kotlinx.coroutines 0.19 to 0.26.

import kotlinx.coroutines.experimental.*
import kotlinx.coroutines.experimental.channels.*
import kotlinx.coroutines.experimental.selects.*

typealias Chan = Channel<Long>

fun open_(capacity: Int): Chan = Channel(if (capacity == UNBOUNDED) Channel.UNLIMITED else capacity)

suspend fun put(channel: Chan, message: Long) = channel.send(message)

suspend fun take(channel: Chan): Long? = channel.receiveOrNull()

fun tryPut(channel: Chan, message: Long): Boolean = channel.offer(message)

fun tryTake(channel: Chan): Tried {
    val message = channel.poll()
    return Tried(message != null || channel.isClosedForReceive, message)
}

fun shut(channel: Chan) {
    channel.close()
}

suspend fun choose(offers: List<Offer>): Int = select<Int> {
    for (offer in offers) {
        val channel = offer.channel
        if (channel == null) {
            onTimeout(offer.message) { offer.number }
        } else if (offer.word == "put") {
            channel.onSend(offer.message) { offer.number }
        } else {
            channel.onReceiveOrNull {
                offer.received = it
                offer.number
            }
        }
    }
}

suspend fun forever(): Int {
    while (true) delay(1_000_000)
}

fun start(body: suspend () -> Unit) {
    launch(CommonPool) { body() }
}
