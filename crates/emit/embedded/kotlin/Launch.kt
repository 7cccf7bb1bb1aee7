import kotlinx.coroutines.*

/** Runs a process on the pool. */
@OptIn(DelicateCoroutinesApi::class)
fun Process.begin(body: suspend (Process) -> Unit) {
    GlobalScope.launch(Dispatchers.Default) {
        body(this@begin)
        end()
    }
}

/** Spawns a process. */
fun Process.launch(body: suspend (Process) -> Unit) = child().begin(body)
