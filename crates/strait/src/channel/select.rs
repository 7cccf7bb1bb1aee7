//! Select over sends and receives: the object that collects the operations, and the macro that
//! performs them.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crossbeam_channel as real;

use super::{Receiver, RecvError, SelectTimeoutError, SendError, Sender, Side, TrySelectError};
use crate::rt::current::{under_test, with};
use crate::rt::ends::Patience;
use crate::rt::select::{self as model, Case};

/// Several sends and receives of which one is to happen.
#[derive(Default)]
pub struct Select<'c> {
    real: Option<real::Select<'c>>,
    cases: Vec<Case<'c>>,
}

/// The operation that a [`Select`] has chosen. It has to be completed on the same channel.
#[must_use = "the chosen operation has to be completed"]
pub struct SelectedOperation<'c> {
    real: Option<real::SelectedOperation<'c>>,
    index: usize,
    /// Has a partner completed it already?
    met: bool,
}

impl<'c> Select<'c> {
    /// No operations yet.
    pub fn new() -> Self {
        Select { real: (!under_test()).then(real::Select::new), cases: Vec::new() }
    }

    /// Adds a send. Gives its index.
    pub fn send<T>(&mut self, sender: &'c Sender<T>) -> usize {
        match (&sender.0, &mut self.real) {
            (Side::Real(sender), Some(real)) => real.send(sender),
            (Side::Model(core), _) => self.add(&**core, true),
            (Side::Real(_), None) => mixed(),
        }
    }

    /// Adds a receive. Gives its index.
    pub fn recv<T>(&mut self, receiver: &'c Receiver<T>) -> usize {
        match (&receiver.0, &mut self.real) {
            (Side::Real(receiver), Some(real)) => real.recv(receiver),
            (Side::Model(core), _) => self.add(&**core, false),
            (Side::Real(_), None) => mixed(),
        }
    }

    fn add(&mut self, channel: &'c dyn model::Selectable, sends: bool) -> usize {
        self.cases.push(Case { channel, sends });
        self.cases.len() - 1
    }

    /// Waits until one of the operations is ready and chooses it.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'c> {
        if let Some(real) = &mut self.real {
            let chosen = real.select();
            return SelectedOperation { index: chosen.index(), real: Some(chosen), met: false };
        }
        match model::select(&self.cases, Patience::Endless, Location::caller()) {
            Some((index, met)) => SelectedOperation { real: None, index, met },
            None => crate::rt::lock::gone(),
        }
    }

    /// Waits until one of the operations is ready and chooses it, or gives up when the time is over.
    /// Under test both may happen.
    #[track_caller]
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'c>, SelectTimeoutError> {
        if let Some(real) = &mut self.real {
            let chosen = real.select_timeout(timeout)?;
            return Ok(SelectedOperation { index: chosen.index(), real: Some(chosen), met: false });
        }
        let chosen = model::select(&self.cases, Patience::Limited, Location::caller());
        let (index, met) = chosen.ok_or(SelectTimeoutError)?;
        Ok(SelectedOperation { real: None, index, met })
    }

    /// Chooses one of the operations if one is ready.
    #[track_caller]
    pub fn try_select(&mut self) -> Result<SelectedOperation<'c>, TrySelectError> {
        if let Some(real) = &mut self.real {
            let chosen = real.try_select()?;
            return Ok(SelectedOperation { index: chosen.index(), real: Some(chosen), met: false });
        }
        let chosen = model::select(&self.cases, Patience::None, Location::caller());
        let (index, met) = chosen.ok_or(TrySelectError)?;
        Ok(SelectedOperation { real: None, index, met })
    }
}

/// A channel that was made for real is used under test.
#[track_caller]
fn mixed() -> usize {
    panic!("a channel that was made outside the check cannot be selected from within it")
}

impl SelectedOperation<'_> {
    /// The index of the chosen operation.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Completes a send.
    #[track_caller]
    pub fn send<T>(self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        match (&sender.0, self.real) {
            (Side::Real(sender), Some(chosen)) => chosen.send(sender, message),
            (Side::Model(core), _) => {
                if self.met {
                    if let Some(receiver) = model::partner() {
                        core.hand_to(receiver, message);
                    }
                    return Ok(());
                }
                core.send_now(message, Patience::Endless, Location::caller()).map_err(SendError)
            }
            (Side::Real(_), None) => panic!("the chosen operation is on another channel"),
        }
    }

    /// Completes a receive.
    #[track_caller]
    pub fn recv<T>(self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        match (&receiver.0, self.real) {
            (Side::Real(receiver), Some(chosen)) => chosen.recv(receiver),
            (Side::Model(core), _) => {
                if self.met {
                    let me = with(|world| world.current).unwrap_or(0);
                    return core.handed(me).ok_or(RecvError);
                }
                core.receive_now(Patience::Endless, Location::caller()).map_err(|_| RecvError)
            }
            (Side::Real(_), None) => panic!("the chosen operation is on another channel"),
        }
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Select").field("cases", &self.cases.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SelectedOperation").field("index", &self.index).finish()
    }
}

/// Performs one of several sends and receives, as `crossbeam_channel::select!` does:
///
/// ```
/// use strait::channel::{select, unbounded};
///
/// let (to_one, one) = unbounded();
/// let (_to_other, other) = unbounded::<u32>();
/// to_one.send(1).unwrap();
/// let got = select! {
///     recv(one) -> message => message,
///     recv(other) -> message => message,
///     default(std::time::Duration::from_secs(1)) => Ok(0),
/// };
/// assert_eq!(got, Ok(1));
/// ```
///
/// A case is `recv(receiver) -> pattern => action` or `send(sender, message) -> pattern => action`,
/// where the pattern gets the `Result` of the operation. A message is made only if it is sent. With
/// `default => action` nothing is waited for, with `default(time) => action` only for so long. If
/// several cases are ready, any of them may be chosen; under test each is.
#[macro_export]
macro_rules! select {
    // What is collected of each operation: its kind, two names that are new with every step of this
    // macro, for its channel and its index, and the rest as it was written.
    (@cases [$($cases:tt)*] recv($receiver:expr) -> $got:pat => $action:block $(,)? $($rest:tt)*) => {
        $crate::select!(@cases
            [$($cases)* (recv channel index ($receiver) () ($got) ($action))] $($rest)*)
    };
    (@cases [$($cases:tt)*] recv($receiver:expr) -> $got:pat => $action:expr $(, $($rest:tt)*)?) => {
        $crate::select!(@cases
            [$($cases)* (recv channel index ($receiver) () ($got) ($action))] $($($rest)*)?)
    };
    (@cases [$($cases:tt)*] send($sender:expr, $message:expr $(,)?) -> $got:pat => $action:block
     $(,)? $($rest:tt)*) => {
        $crate::select!(@cases
            [$($cases)* (send channel index ($sender) ($message) ($got) ($action))] $($rest)*)
    };
    (@cases [$($cases:tt)*] send($sender:expr, $message:expr $(,)?) -> $got:pat => $action:expr
     $(, $($rest:tt)*)?) => {
        $crate::select!(@cases
            [$($cases)* (send channel index ($sender) ($message) ($got) ($action))] $($($rest)*)?)
    };
    (@cases [$($cases:tt)*] default $(())? => $action:expr $(,)?) => {
        $crate::select!(@perform select [$($cases)*] select.try_select() => $action)
    };
    (@cases [$($cases:tt)*] default($time:expr) => $action:expr $(,)?) => {
        $crate::select!(@perform select [$($cases)*] select.select_timeout($time) => $action)
    };
    (@cases [$($cases:tt)*]) => {
        $crate::select!(@perform select [$($cases)*]
            ::core::result::Result::<_, ::core::convert::Infallible>::Ok(select.select())
            => ::core::unreachable!("a select without a default waits"))
    };
    (@perform $select:ident
     [$(($kind:ident $channel:ident $index:ident ($side:expr) ($($message:expr)?) ($got:pat)
         ($action:expr)))*]
     $chosen:expr => $default:expr) => {{
        $(let $channel = &$side;)*
        let mut $select = $crate::channel::Select::new();
        $(let $index = $select.$kind($channel);)*
        match $chosen {
            ::core::result::Result::Ok(chosen) => {
                $(if chosen.index() == $index {
                    let $got = chosen.$kind($channel $(, $message)?);
                    $action
                } else)* {
                    ::core::unreachable!("one of the cases is chosen")
                }
            }
            ::core::result::Result::Err(_) => $default,
        }
    }};
    ($($cases:tt)*) => {
        $crate::select!(@cases [] $($cases)*)
    };
}
