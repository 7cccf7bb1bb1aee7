//! What an assumption is about. The helper names these; their texts are here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was not followed exactly on the way from Go to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// A function that is not read is called, and may do anything.
    UnreadCall,
    /// A function or method is handed to a function that is not read.
    UnreadCallback,
    /// A channel is handed to a function that is not read.
    UnreadChannel,
    /// A function that is not read returns a channel.
    UnreadResult,
    /// A function value that is not known is called.
    UnknownFunction,
    /// A method of an unknown value is called that may change data.
    UnknownMethod,
    /// A goroutine is started whose function is not known.
    UnknownGoroutine,
    /// A message is sent on a channel that is not known.
    UnknownSend,
    /// A message is received from a channel that is not known.
    UnknownReceive,
    /// A channel that is not known is closed.
    UnknownClose,
    /// A case of a select is about a channel that is not known.
    UnknownCase,
    /// The capacity of a channel is not known.
    UnknownCapacity,
    /// The capacity of a channel is very large.
    LargeCapacity,
    /// A lock that is not known is operated.
    UnknownLock,
    /// Whether a TryLock succeeds is not followed.
    TryLock,
    /// A lock is copied while other goroutines may use it.
    CopiedLock,
    /// A lock is overwritten while other goroutines may use it.
    OverwrittenLock,
    /// A wait group that is not known is operated.
    UnknownWaitGroup,
    /// How much is added to a wait group is not known.
    UnknownAmount,
    /// A sync.Once is not known.
    UnknownOnce,
    /// A sync.Cond is not known.
    UnknownCond,
    /// What a sync.Map holds is not followed.
    UnknownSyncMap,
    /// What a sync.Pool holds is not followed.
    UnknownPool,
    /// A semaphore, or the amount, is not known.
    UnknownSemaphore,
    /// An errgroup is not known.
    UnknownGroup,
    /// The limit of an errgroup is not known.
    UnknownLimit,
    /// Whether a TryGo succeeds is not followed.
    TryGo,
    /// A timer is not known.
    UnknownTimer,
    /// A function that runs later is put off.
    ResetFunction,
    /// A context is not known.
    UnknownContext,
    /// Which signals arrive at which channel is not followed.
    Signals,
    /// The number of processors is not known.
    Processors,
    /// A range over a map is not followed in every order.
    MapOrder,
    /// An entry of a map is not known.
    UnknownEntry,
    /// An element of a slice or array is not known.
    UnknownElement,
    /// A channel or lock is stored where it is not followed.
    LostStore,
    /// Data that several goroutines write is not followed.
    SharedData,
    /// A message holds several channels or locks.
    SeveralInMessage,
    /// A recursive call returns channels or locks.
    RecursiveResult,
    /// A parameter of the entry comes from outside.
    Parameter,
    /// A package variable is first used inside a goroutine.
    LateGlobal,
    /// A package variable is linked with another one by a directive.
    LinkedVariable,
    /// Time in a bubble of testing/synctest passes in an order of its own.
    BubbleTime,
    /// When a deferred call or a cleanup runs is not known.
    UnknownDefer,
    /// Which test or subtest runs is not known.
    UnknownTest,
    /// The entry is too large.
    TooLarge,
    /// What goroutines share did not settle.
    Unsettled,
    /// The helper could not extract the entry.
    Refused,
    /// A package does not compile.
    LeftOutPackage,
    /// A function that was asked for does not exist.
    NoSuchFunction,
}

impl About {
    /// The name for scripts.
    pub fn name(self) -> &'static str {
        match self {
            About::UnreadCall => "unread-call",
            About::UnreadCallback => "unread-callback",
            About::UnreadChannel => "unread-channel",
            About::UnreadResult => "unread-result",
            About::UnknownFunction => "unknown-function",
            About::UnknownMethod => "unknown-method",
            About::UnknownGoroutine => "unknown-goroutine",
            About::UnknownSend => "unknown-send",
            About::UnknownReceive => "unknown-receive",
            About::UnknownClose => "unknown-close",
            About::UnknownCase => "unknown-case",
            About::UnknownCapacity => "unknown-capacity",
            About::LargeCapacity => "large-capacity",
            About::UnknownLock => "unknown-lock",
            About::TryLock => "try-lock",
            About::CopiedLock => "copied-lock",
            About::OverwrittenLock => "overwritten-lock",
            About::UnknownWaitGroup => "unknown-wait-group",
            About::UnknownAmount => "unknown-amount",
            About::UnknownOnce => "unknown-once",
            About::UnknownCond => "unknown-cond",
            About::UnknownSyncMap => "unknown-sync-map",
            About::UnknownPool => "unknown-pool",
            About::UnknownSemaphore => "unknown-semaphore",
            About::UnknownGroup => "unknown-group",
            About::UnknownLimit => "unknown-limit",
            About::TryGo => "try-go",
            About::UnknownTimer => "unknown-timer",
            About::ResetFunction => "reset-function",
            About::UnknownContext => "unknown-context",
            About::Signals => "signals",
            About::Processors => "processors",
            About::MapOrder => "map-order",
            About::UnknownEntry => "unknown-entry",
            About::UnknownElement => "unknown-element",
            About::LostStore => "lost-store",
            About::SharedData => "shared-data",
            About::SeveralInMessage => "several-in-message",
            About::RecursiveResult => "recursive-result",
            About::Parameter => "parameter",
            About::LateGlobal => "late-global",
            About::LinkedVariable => "linked-variable",
            About::BubbleTime => "bubble-time",
            About::UnknownDefer => "unknown-defer",
            About::UnknownTest => "unknown-test",
            About::TooLarge => "too-large",
            About::Unsettled => "unsettled",
            About::Refused => "refused",
            About::LeftOutPackage => "left-out-package",
            About::NoSuchFunction => "no-such-function",
        }
    }

    /// What is assumed, in words. The subject is a function, a variable or a message.
    #[rustfmt::skip] // One line per assumption.
    pub(super) fn tell(self, subject: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            About::UnreadCall => return write!(formatter, "`{subject}` is not read, so what it does is left out"),
            About::UnreadCallback => return write!(formatter, "a function or method is handed to `{subject}`, which is not read, so its calls are left out"),
            About::UnreadChannel => return write!(formatter, "a channel is handed to `{subject}`, which is not read"),
            About::UnreadResult => return write!(formatter, "the channel that `{subject}` returns is not followed"),
            About::Parameter => return write!(formatter, "the parameter `{subject}` comes from outside, so nothing is known about it"),
            About::LateGlobal => return write!(formatter, "the package variable `{subject}` is first used inside a goroutine"),
            About::LinkedVariable => return write!(formatter, "the package variable `{subject}` is linked with another one, which is not followed"),
            About::Refused => return write!(formatter, "the entry could not be extracted ({subject}); please report this"),
            About::LeftOutPackage => return write!(formatter, "a package is left out because it does not compile: {subject}"),
            About::NoSuchFunction => return write!(formatter, "there is no function {subject}"),
            About::UnknownFunction => "the function called here is not known, so what it does is left out",
            About::UnknownMethod => "the method called here is not known, so what it changes is not followed",
            About::UnknownGoroutine => "the function of this goroutine is not known, so the goroutine is left out",
            About::UnknownSend => "the channel is not known, so this send is assumed to succeed",
            About::UnknownReceive => "the channel is not known, so this receive is assumed to succeed",
            About::UnknownClose => "the channel is not known, so this `close` is left out",
            About::UnknownCase => "the channel is not known, so this case is assumed to be possible at any moment",
            About::UnknownCapacity => "the capacity of this channel is not known, so it is assumed to be 1",
            About::LargeCapacity => "the capacity of this channel is above 1,000,000, so it is assumed to be 1,000,000",
            About::UnknownLock => "the lock is not known, so this operation is left out",
            About::TryLock => "whether this succeeds is assumed to be a free choice",
            About::CopiedLock => "a lock or wait group is copied that other goroutines may be using",
            About::OverwrittenLock => "a lock or wait group is overwritten that other goroutines may be using",
            About::UnknownWaitGroup => "the wait group is not known, so this operation is left out",
            About::UnknownAmount => "the amount added to the wait group is not known, so it is assumed to be 1",
            About::UnknownOnce => "this `sync.Once` is not known, so its function is assumed to run or not",
            About::UnknownCond => "this `sync.Cond` is not known, so the operation is left out",
            About::UnknownSyncMap => "what this `sync.Map` holds is not followed",
            About::UnknownPool => "what this `sync.Pool` holds is not followed",
            About::UnknownSemaphore => "the semaphore or the amount is not known, so the operation is left out",
            About::UnknownGroup => "the group is not known, so this operation is left out",
            About::UnknownLimit => "the limit of the group is not known, so there is assumed to be none",
            About::TryGo => "`TryGo` is assumed to succeed",
            About::UnknownTimer => "the timer is not known, so this operation is left out",
            About::ResetFunction => "the function of this timer is assumed to run once, at any moment",
            About::UnknownContext => "the context is not known, so when it ends is not followed",
            About::Signals => "which signals arrive at which channel from here on is not followed",
            About::Processors => "the machine is assumed to have one or two processors",
            About::MapOrder => "this range over a map is followed in one order only",
            About::UnknownEntry => "this entry of a map is not known, so operations on it are left out",
            About::UnknownElement => "this element of a slice or array is not known, so operations on it are left out",
            About::LostStore => "a channel or lock is stored here, where it cannot be followed",
            About::SharedData => "what other goroutines do to this data is not followed, so both branches are assumed to be possible",
            About::SeveralInMessage => "the message holds several channels or locks, and only one of them is followed",
            About::RecursiveResult => "the channels or locks that this recursive call returns are not followed",
            About::BubbleTime => "in which order time passes in this bubble is not followed",
            About::UnknownDefer => "when this deferred call runs is not known",
            About::UnknownTest => "which test runs here is not known, so it is left out",
            About::TooLarge => "the entry is too large, so a part of it is left out",
            About::Unsettled => "the extraction did not settle on what goroutines share",
        };
        formatter.write_str(words)
    }
}
