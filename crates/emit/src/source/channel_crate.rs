//! How channel crates write their operations: one row per crate, each operation a line of Rust. A new
//! crate is a new row.

/// One crate. Expressions speak of `sender`, `receiver`, `value` and `patience`; where the crate lacks an
/// operation, there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelCrate {
    /// The target's name.
    name: &'static str,
    /// Its name in the registry; none for std.
    pub package: &'static str,
    /// The rest of the dependency's table.
    pub features: &'static str,
    /// The types of the ends.
    ends: (&'static str, &'static str),
    /// Makes a channel for `room` messages, and one for any number.
    open: (&'static str, &'static str),
    /// `bool`: was it sent? And an `Option` of what was received.
    blocking: (&'static str, &'static str),
    /// The same, in an `Option` that is `None` if there is no room or no message.
    trying: (&'static str, &'static str),
    /// The same with `patience`.
    waiting: (&'static str, &'static str),
    /// A future of a `bool`.
    pub send_task: &'static str,
    /// A future of an `Option`.
    receive_task: &'static str,
}

/// Crates whose operations and errors are called as those of std.
macro_rules! usual {
    ($name:literal, $crate_name:literal, $send:literal, $receive:literal, $send_task:literal, $receive_task:literal, $waiting:expr) => {
        ChannelCrate {
            name: $name,
            package: $name,
            features: "",
            ends: (concat!($crate_name, "::Sender<T>"), concat!($crate_name, "::Receiver<T>")),
            open: (concat!($crate_name, "::bounded(room)"), concat!($crate_name, "::unbounded()")),
            blocking: (
                concat!("sender.", $send, "(value).is_ok()"),
                concat!("receiver.", $receive, "().ok()"),
            ),
            trying: (
                concat!(
                    "match sender.try_send(value) { Ok(()) => Some(true), Err(",
                    $crate_name,
                    "::TrySendError::Full(_)) => None, Err(_) => Some(false) }"
                ),
                concat!(
                    "match receiver.try_recv() { Ok(value) => Some(Some(value)), Err(",
                    $crate_name,
                    "::TryRecvError::Empty) => None, Err(_) => Some(None) }"
                ),
            ),
            waiting: $waiting,
            send_task: $send_task,
            receive_task: $receive_task,
        }
    };
}

/// `send_timeout` and `recv_timeout` with the errors of a crate.
macro_rules! timeouts {
    ($crate_name:literal) => {
        (
            concat!(
                "match sender.send_timeout(value, patience) { Ok(()) => Some(true), Err(",
                $crate_name,
                "::SendTimeoutError::Timeout(_)) => None, Err(_) => Some(false) }"
            ),
            concat!(
                "match receiver.recv_timeout(patience) { Ok(value) => Some(Some(value)), Err(",
                $crate_name,
                "::RecvTimeoutError::Timeout) => None, Err(_) => Some(None) }"
            ),
        )
    };
}

const CRATES: &[ChannelCrate] = &[
    usual!(
        "flume",
        "flume",
        "send",
        "recv",
        "async { sender.send_async(value).await.is_ok() }",
        "async { receiver.recv_async().await.ok() }",
        timeouts!("flume")
    ),
    usual!(
        "loole",
        "loole",
        "send",
        "recv",
        "async { sender.send_async(value).await.is_ok() }",
        "async { receiver.recv_async().await.ok() }",
        timeouts!("loole")
    ),
    usual!(
        "crossbeam-channel",
        "crossbeam_channel",
        "send",
        "recv",
        "",
        "",
        timeouts!("crossbeam_channel")
    ),
    usual!(
        "async-channel",
        "async_channel",
        "send_blocking",
        "recv_blocking",
        "async { sender.send(value).await.is_ok() }",
        "async { receiver.recv().await.ok() }",
        ("", "")
    ),
    ChannelCrate {
        name: "kanal",
        package: "kanal",
        features: "",
        ends: ("kanal::Sender<T>", "kanal::Receiver<T>"),
        open: ("kanal::bounded(room)", "kanal::unbounded()"),
        blocking: ("sender.send(value).is_ok()", "receiver.recv().ok()"),
        trying: (
            "match sender.try_send(value) { Ok(true) => Some(true), Ok(false) => None, Err(_) => Some(false) }",
            "match receiver.try_recv() { Ok(Some(value)) => Some(Some(value)), Ok(None) => None, Err(_) => Some(None) }",
        ),
        waiting: (
            "match sender.send_timeout(value, patience) { Ok(()) => Some(true), Err(kanal::SendTimeoutError::Timeout(_)) => None, Err(_) => Some(false) }",
            "match receiver.recv_timeout(patience) { Ok(value) => Some(Some(value)), Err(kanal::ReceiveErrorTimeout::Timeout) => None, Err(_) => Some(None) }",
        ),
        send_task: "async { sender.clone_async().send(value).await.is_ok() }",
        receive_task: "async { receiver.clone_async().recv().await.ok() }",
    },
    ChannelCrate {
        name: "postage",
        package: "postage",
        features: "",
        ends: ("postage::dispatch::Sender<T>", "postage::dispatch::Receiver<T>"),
        open: ("postage::dispatch::channel(room)", ""),
        blocking: (
            "postage::sink::Sink::blocking_send(&mut sender.clone(), value).is_ok()",
            "postage::stream::Stream::blocking_recv(&mut receiver.clone())",
        ),
        trying: ("", ""),
        waiting: ("", ""),
        send_task: "async { postage::sink::Sink::send(&mut sender.clone(), value).await.is_ok() }",
        receive_task: "async { postage::stream::Stream::recv(&mut receiver.clone()).await }",
    },
];

impl ChannelCrate {
    /// The crate of a target.
    pub(crate) fn named(name: &str) -> Option<&'static ChannelCrate> {
        CRATES.iter().find(|known| known.name == name)
    }

    /// Functions that open channels, send and receive. One that the crate cannot have is left out, so that a
    /// program that needs it does not compile.
    pub(crate) fn operations(&self) -> String {
        let (sender, receiver) = self.ends;
        let ends = format!("({sender}, {receiver})");
        let send_heads = format!("sender: &{sender}, value: T, random: &mut Random");
        let receive_heads = format!("receiver: &{receiver}, random: &mut Random");
        let line =
            |line: &str| if line.is_empty() { String::new() } else { format!("    {line}\n") };
        let unused = |text: String| match text.as_str() {
            "" => text,
            _ => format!("    let _ = &random;\n{text}"),
        };
        let both = |task: &str, thread: &str| match (task, thread) {
            ("", thread) => unused(line(thread)),
            (task, "") => line(task),
            _ => {
                format!("    if random.is_task {{\n        return {task};\n    }}\n    {thread}\n")
            }
        };
        let called = |name: &str, future: &str, more: &str| match future {
            "" => String::new(),
            future => format!("{name}({future}{more})"),
        };
        let block_on = |future: &str| called("block_on", future, "");
        let give_up = |future: &str| called("give_up", future, ", random");
        let patiently = |line: &str| match line {
            "" => String::new(),
            line => format!("let patience = random.patience();\n    {line}"),
        };
        let functions = [
            (format!("fn bounded<T: Seen>(room: usize) -> {ends}"), line(self.open.0)),
            (format!("fn unbounded<T: Seen>() -> {ends}"), line(self.open.1)),
            (
                format!("/// Was it sent?\nfn send<T: Seen>({send_heads}) -> bool"),
                both(&block_on(self.send_task), self.blocking.0),
            ),
            (
                format!(
                    "/// `None` if all senders have gone.\nfn receive<T: Seen>({receive_heads}) -> Option<T>"
                ),
                both(&block_on(self.receive_task), self.blocking.1),
            ),
            (
                format!(
                    "/// `None` if there is no room.\nfn send_at_once<T: Seen>({send_heads}) -> Option<bool>"
                ),
                unused(line(self.trying.0)),
            ),
            (
                format!(
                    "/// `None` if there is no message.\nfn receive_at_once<T: Seen>({receive_heads}) -> Option<Option<T>>"
                ),
                unused(line(self.trying.1)),
            ),
            (
                format!(
                    "/// `None` if it was given up.\nfn send_or_give_up<T: Seen>({send_heads}) -> Option<bool>"
                ),
                both(&give_up(self.send_task), &patiently(self.waiting.0)),
            ),
            (
                format!(
                    "/// `None` if it was given up.\nfn receive_or_give_up<T: Seen>({receive_heads}) -> Option<Option<T>>"
                ),
                both(&give_up(self.receive_task), &patiently(self.waiting.1)),
            ),
        ];
        let present = functions.iter().filter(|(_, body)| !body.is_empty());
        let texts: Vec<String> =
            present.map(|(head, body)| format!("{head} {{\n{body}}}\n")).collect();
        texts.join("\n")
    }
}
