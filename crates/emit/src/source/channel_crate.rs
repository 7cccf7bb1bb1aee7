//! How channel crates write their operations: one row per crate, each operation a line of Rust. A new
//! crate is a new row.

use std::collections::HashSet;

use super::standalone::Processes;
use crate::error::Refusal;

/// One crate. Expressions speak of `sender`, `receiver`, `message` and `patience`; where the crate lacks an
/// operation, the expression is empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelCrate {
    /// The target's name.
    name: &'static str,
    /// Its name in the registry; none for std.
    pub package: &'static str,
    /// The rest of the dependency's table.
    pub features: &'static str,
    /// Items that define the types `Sender` and `Receiver`, which can be cloned and shared.
    ends: &'static str,
    /// Makes a channel for `room` messages, and one for any number.
    open: (&'static str, &'static str),
    /// `bool`: was it sent? And an `Option` of what was received.
    blocking: (&'static str, &'static str),
    /// The same, in an `Option` that is `None` if there is no room or no message.
    trying: (&'static str, &'static str),
    /// The same with `patience`.
    waiting: (&'static str, &'static str),
    /// Awaits: was it sent? And an `Option` of what was received.
    task: (&'static str, &'static str),
    /// Statements that carry out one of `cases` on a thread.
    select: &'static str,
}

/// What a program needs and a crate may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lack {
    /// Channels that hold a number of messages.
    Bounded,
    /// Channels that hold any number.
    Unbounded,
    /// Operations that do not wait.
    Trying,
    /// Operations that are given up.
    GivingUp,
    /// One of several operations.
    Select,
    /// Operations that block a thread.
    Threads,
    /// Operations of tasks.
    Tasks,
}

impl Lack {
    /// Why the program cannot be written.
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Lack::Bounded | Lack::Unbounded => Refusal::Capacity,
            Lack::Trying => Refusal::Trying,
            Lack::GivingUp => Refusal::GivingUp,
            Lack::Select => Refusal::ThreadSelect,
            Lack::Threads => Refusal::Threads,
            Lack::Tasks => Refusal::Tasks,
        }
    }
}

/// Crates whose operations and errors are called as those of std.
macro_rules! std_names {
    ($name:literal, $crate_name:literal, $blocking:expr, $waiting:expr, $task:expr, $select:expr) => {
        ChannelCrate {
            name: $name,
            package: $name,
            features: "",
            ends: concat!(
                "type Sender = ",
                $crate_name,
                "::Sender<Message>;\ntype Receiver = ",
                $crate_name,
                "::Receiver<Message>;\n"
            ),
            open: (concat!($crate_name, "::bounded(room)"), concat!($crate_name, "::unbounded()")),
            blocking: $blocking,
            trying: (
                concat!(
                    "match sender.try_send(message) {\n        Ok(()) => Some(true),\n        Err(",
                    $crate_name,
                    "::TrySendError::Full(_)) => None,\n        Err(_) => Some(false),\n    }"
                ),
                concat!(
                    "match receiver.try_recv() {\n        Ok(message) => Some(Some(message)),\n        Err(",
                    $crate_name,
                    "::TryRecvError::Empty) => None,\n        Err(_) => Some(None),\n    }"
                ),
            ),
            waiting: $waiting,
            task: $task,
            select: $select,
        }
    };
}

/// `send_timeout` and `recv_timeout` with the errors of a crate.
macro_rules! timeouts {
    ($crate_name:literal) => {
        (
            concat!(
                "match sender.send_timeout(message, patience) {\n        Ok(()) => Some(true),\n        Err(",
                $crate_name,
                "::SendTimeoutError::Timeout(_)) => None,\n        Err(_) => Some(false),\n    }"
            ),
            concat!(
                "match receiver.recv_timeout(patience) {\n        Ok(message) => Some(Some(message)),\n        Err(",
                $crate_name,
                "::RecvTimeoutError::Timeout) => None,\n        Err(_) => Some(None),\n    }"
            ),
        )
    };
}

const BLOCKING: (&str, &str) = ("sender.send(message).is_ok()", "receiver.recv().ok()");
const ASYNC: (&str, &str) =
    ("sender.send_async(message).await.is_ok()", "receiver.recv_async().await.ok()");

const CROSSBEAM_SELECT: &str = "\
let mut select = crossbeam_channel::Select::new();
    for case in &cases {
        match case {
            Case::Put(sender, _) => select.send(sender),
            Case::Get(receiver) => select.recv(receiver),
        };
    }
    let operation = match patience {
        None => select.select(),
        Some(patience) => select.select_timeout(patience).ok()?,
    };
    let number = operation.index();
    match cases.into_iter().nth(number)? {
        Case::Put(sender, message) => {
            let _ = operation.send(sender, message);
            Some((number, None))
        }
        Case::Get(receiver) => Some((number, operation.recv(receiver).ok())),
    }";

const FLUME_SELECT: &str = "\
let mut selector = flume::Selector::new();
    for (number, case) in cases.into_iter().enumerate() {
        selector = match case {
            Case::Put(sender, message) => selector.send(sender, message, move |_| (number, None)),
            Case::Get(receiver) => selector.recv(receiver, move |received| (number, received.ok())),
        };
    }
    match patience {
        None => Some(selector.wait()),
        Some(patience) => selector.wait_timeout(patience).ok(),
    }";

const CROSSFIRE_ENDS: &str = "\
/// Bounded or not, for threads and for tasks.
#[derive(Clone)]
enum Sender {
    Bounded(crossfire::MTx<crossfire::mpmc::Array<Message>>, crossfire::MAsyncTx<crossfire::mpmc::Array<Message>>),
    Unbounded(crossfire::MTx<crossfire::mpmc::List<Message>>),
}

#[derive(Clone)]
enum Receiver {
    Bounded(crossfire::MRx<crossfire::mpmc::Array<Message>>, crossfire::MAsyncRx<crossfire::mpmc::Array<Message>>),
    Unbounded(crossfire::MRx<crossfire::mpmc::List<Message>>, crossfire::MAsyncRx<crossfire::mpmc::List<Message>>),
}
";

const CRATES: &[ChannelCrate] = &[
    std_names!("flume", "flume", BLOCKING, timeouts!("flume"), ASYNC, FLUME_SELECT),
    std_names!("loole", "loole", BLOCKING, timeouts!("loole"), ASYNC, ""),
    std_names!(
        "crossbeam-channel",
        "crossbeam_channel",
        BLOCKING,
        timeouts!("crossbeam_channel"),
        ("", ""),
        CROSSBEAM_SELECT
    ),
    std_names!(
        "async-channel",
        "async_channel",
        ("sender.send_blocking(message).is_ok()", "receiver.recv_blocking().ok()"),
        ("", ""),
        ("sender.send(message).await.is_ok()", "receiver.recv().await.ok()"),
        ""
    ),
    ChannelCrate {
        name: "kanal",
        package: "kanal",
        features: "",
        ends: "type Sender = kanal::Sender<Message>;\ntype Receiver = kanal::Receiver<Message>;\n",
        open: ("kanal::bounded(room)", "kanal::unbounded()"),
        blocking: BLOCKING,
        trying: (
            "sender.try_send(message).map_or(Some(false), |is_sent| is_sent.then_some(true))",
            "receiver.try_recv().map_or(Some(None), |received| received.map(Some))",
        ),
        // The names of errors differ between versions.
        waiting: (
            "match sender.send_timeout(message, patience) {\n        Ok(()) => Some(true),\n        Err(error) if format!(\"{error:?}\").starts_with(\"Timeout\") => None,\n        Err(_) => Some(false),\n    }",
            "match receiver.recv_timeout(patience) {\n        Ok(message) => Some(Some(message)),\n        Err(error) if format!(\"{error:?}\").starts_with(\"Timeout\") => None,\n        Err(_) => Some(None),\n    }",
        ),
        task: (
            "sender.clone_async().send(message).await.is_ok()",
            "receiver.clone_async().recv().await.ok()",
        ),
        select: "",
    },
    ChannelCrate {
        name: "crossfire",
        package: "crossfire",
        features: "",
        ends: CROSSFIRE_ENDS,
        open: (
            "let (sender, receiver) = crossfire::mpmc::bounded_blocking(room);\n    let tasks = (sender.clone().into_async(), receiver.clone().into_async());\n    (Sender::Bounded(sender, tasks.0), Receiver::Bounded(receiver, tasks.1))",
            "let (sender, receiver) = crossfire::mpmc::unbounded_blocking();\n    let task = receiver.clone().into_async();\n    (Sender::Unbounded(sender), Receiver::Unbounded(receiver, task))",
        ),
        blocking: (
            "match sender {\n        Sender::Bounded(sender, _) => sender.send(message).is_ok(),\n        Sender::Unbounded(sender) => sender.send(message).is_ok(),\n    }",
            "match receiver {\n        Receiver::Bounded(receiver, _) => receiver.recv().ok(),\n        Receiver::Unbounded(receiver, _) => receiver.recv().ok(),\n    }",
        ),
        trying: (
            "let sent = match sender {\n        Sender::Bounded(sender, _) => sender.try_send(message),\n        Sender::Unbounded(sender) => sender.try_send(message),\n    };\n    match sent {\n        Ok(()) => Some(true),\n        Err(crossfire::TrySendError::Full(_)) => None,\n        Err(_) => Some(false),\n    }",
            "let received = match receiver {\n        Receiver::Bounded(receiver, _) => receiver.try_recv(),\n        Receiver::Unbounded(receiver, _) => receiver.try_recv(),\n    };\n    match received {\n        Ok(message) => Some(Some(message)),\n        Err(crossfire::TryRecvError::Empty) => None,\n        Err(_) => Some(None),\n    }",
        ),
        waiting: (
            "let sent = match sender {\n        Sender::Bounded(sender, _) => sender.send_timeout(message, patience),\n        Sender::Unbounded(sender) => sender.send_timeout(message, patience),\n    };\n    match sent {\n        Ok(()) => Some(true),\n        Err(crossfire::SendTimeoutError::Timeout(_)) => None,\n        Err(_) => Some(false),\n    }",
            "let received = match receiver {\n        Receiver::Bounded(receiver, _) => receiver.recv_timeout(patience),\n        Receiver::Unbounded(receiver, _) => receiver.recv_timeout(patience),\n    };\n    match received {\n        Ok(message) => Some(Some(message)),\n        Err(crossfire::RecvTimeoutError::Timeout) => None,\n        Err(_) => Some(None),\n    }",
        ),
        task: (
            "match sender {\n        Sender::Bounded(_, sender) => sender.send(message).await.is_ok(),\n        Sender::Unbounded(sender) => sender.send(message).is_ok(),\n    }",
            "match receiver {\n        Receiver::Bounded(_, receiver) => receiver.recv().await.ok(),\n        Receiver::Unbounded(_, receiver) => receiver.recv().await.ok(),\n    }",
        ),
        select: "",
    },
    ChannelCrate {
        name: "postage",
        package: "postage",
        features: "",
        ends: "type Sender = postage::dispatch::Sender<Message>;\ntype Receiver = postage::dispatch::Receiver<Message>;\n",
        open: ("postage::dispatch::channel(room)", ""),
        blocking: (
            "postage::sink::Sink::blocking_send(&mut sender.clone(), message).is_ok()",
            "postage::stream::Stream::blocking_recv(&mut receiver.clone())",
        ),
        trying: ("", ""),
        waiting: ("", ""),
        task: (
            "postage::sink::Sink::send(&mut sender.clone(), message).await.is_ok()",
            "postage::stream::Stream::recv(&mut receiver.clone()).await",
        ),
        select: "",
    },
];

impl ChannelCrate {
    /// The crate of a target.
    pub(crate) fn named(name: &str) -> Option<&'static ChannelCrate> {
        CRATES.iter().find(|known| known.name == name)
    }

    /// What a program needs of the crate that it does not have, if there is any such thing.
    pub(crate) fn lack(&self, processes: Processes, needed: &HashSet<Lack>) -> Option<Lack> {
        let has_threads = processes != Processes::Tasks;
        let is_missing = |lack: &Lack| match lack {
            Lack::Bounded => self.open.0.is_empty(),
            Lack::Unbounded => self.open.1.is_empty(),
            Lack::Trying => self.trying.0.is_empty(),
            Lack::GivingUp => has_threads && self.waiting.0.is_empty(),
            Lack::Select => has_threads && self.select.is_empty(),
            Lack::Threads => has_threads && self.blocking.0.is_empty(),
            Lack::Tasks => processes != Processes::Threads && self.task.0.is_empty(),
        };
        let always = [Lack::Threads, Lack::Tasks];
        always.iter().chain(needed).find(|lack| is_missing(lack)).copied()
    }

    /// Functions that open channels, send and receive.
    pub(crate) fn operations(&self) -> String {
        let functions = [
            ("fn bounded(room: usize) -> (Sender, Receiver)", self.open.0),
            ("fn unbounded() -> (Sender, Receiver)", self.open.1),
            (
                "/// Was it sent?\nfn send(sender: &Sender, message: Message) -> bool",
                self.blocking.0,
            ),
            (
                "/// `None` if all senders have gone.\nfn receive(receiver: &Receiver) -> Option<Message>",
                self.blocking.1,
            ),
            (
                "/// `None` if there is no room.\nfn try_send(sender: &Sender, message: Message) -> Option<bool>",
                self.trying.0,
            ),
            (
                "/// `None` if there is no message.\nfn try_receive(receiver: &Receiver) -> Option<Option<Message>>",
                self.trying.1,
            ),
            (
                "/// `None` if the time was up.\nfn send_within(sender: &Sender, message: Message, patience: Duration) -> Option<bool>",
                self.waiting.0,
            ),
            (
                "/// `None` if the time was up.\nfn receive_within(receiver: &Receiver, patience: Duration) -> Option<Option<Message>>",
                self.waiting.1,
            ),
            ("async fn send_task(sender: &Sender, message: Message) -> bool", self.task.0),
            ("async fn receive_task(receiver: &Receiver) -> Option<Message>", self.task.1),
            (
                "/// The case that was carried out and what was received; `None` if the time was up.\nfn select_thread(cases: Vec<Case<'_>>, patience: Option<Duration>) -> Option<(usize, Option<Message>)>",
                self.select,
            ),
        ];
        let lacking = format!("unreachable!(\"{} has no such operation\")", self.name);
        let body =
            |body: &'static str| if body.is_empty() { lacking.clone() } else { body.to_owned() };
        let texts: Vec<String> = functions
            .into_iter()
            .map(|(head, text)| format!("{head} {{\n    {}\n}}", body(text)))
            .collect();
        format!("{}\n{}", self.ends, texts.join("\n\n"))
    }
}
