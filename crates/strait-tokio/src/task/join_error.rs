//! Why a task gave nothing, and the numbers of tasks.

use std::any::Any;
use std::fmt;
use std::sync::Mutex;

/// The number of a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id(Kind);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Real(tokio::task::Id),
    Model(u64),
}

impl Id {
    pub(crate) fn real(id: tokio::task::Id) -> Id {
        Id(Kind::Real(id))
    }

    pub(crate) fn model(number: u64) -> Id {
        Id(Kind::Model(number))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Real(id) => id.fmt(formatter),
            Kind::Model(number) => number.fmt(formatter),
        }
    }
}

/// A task was aborted or has panicked.
pub struct JoinError(Reason);

enum Reason {
    Real(tokio::task::JoinError),
    Aborted(Id),
    Panic(Id, Mutex<Box<dyn Any + Send>>),
}

impl From<tokio::task::JoinError> for JoinError {
    fn from(error: tokio::task::JoinError) -> Self {
        JoinError(Reason::Real(error))
    }
}

impl JoinError {
    pub(crate) fn aborted(id: Id) -> Self {
        JoinError(Reason::Aborted(id))
    }

    pub(crate) fn panicked(id: Id, panic: Box<dyn Any + Send>) -> Self {
        JoinError(Reason::Panic(id, Mutex::new(panic)))
    }

    /// Was the task aborted?
    pub fn is_cancelled(&self) -> bool {
        match &self.0 {
            Reason::Real(error) => error.is_cancelled(),
            Reason::Aborted(_) => true,
            Reason::Panic(..) => false,
        }
    }

    /// Has the task panicked?
    pub fn is_panic(&self) -> bool {
        !self.is_cancelled()
    }

    /// The panic of the task.
    ///
    /// # Panics
    ///
    /// If the task was aborted.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(panic) => panic,
            Err(_) => panic!("`JoinError` reason is not a panic."),
        }
    }

    /// The panic of the task, if it has panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        match self.0 {
            Reason::Real(error) => error.try_into_panic().map_err(JoinError::from),
            Reason::Aborted(_) => Err(self),
            Reason::Panic(_, panic) => {
                Ok(panic.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
            }
        }
    }

    /// The number of the task.
    pub fn id(&self) -> Id {
        match &self.0 {
            Reason::Real(error) => Id::real(error.id()),
            Reason::Aborted(id) | Reason::Panic(id, _) => *id,
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Real(error) => error.fmt(formatter),
            Reason::Aborted(id) => write!(formatter, "task {id} was cancelled"),
            Reason::Panic(id, panic) => match text(panic) {
                Some(text) => write!(formatter, "task {id} panicked with message {text:?}"),
                None => write!(formatter, "task {id} panicked"),
            },
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Real(error) => error.fmt(formatter),
            Reason::Aborted(id) => write!(formatter, "JoinError::Cancelled({id:?})"),
            Reason::Panic(id, panic) => match text(panic) {
                Some(text) => write!(formatter, "JoinError::Panic({id:?}, {text:?}, ...)"),
                None => write!(formatter, "JoinError::Panic({id:?}, ...)"),
            },
        }
    }
}

fn text(panic: &Mutex<Box<dyn Any + Send>>) -> Option<String> {
    let panic = panic.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(error.to_string())
    }
}
