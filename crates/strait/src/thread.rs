//! Threads, as in `std::thread`. Under test they are coroutines that the search switches between.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::thread as real;
use std::time::Duration;

pub use std::thread::Result;

pub use crate::local::{AccessError, LocalKey};
pub use crate::scope::{Scope, ScopedJoinHandle, scope};
pub use crate::symmetric::{SymmetricThreads, spawn_symmetric};

use crate::exception::RealMailbox;
use crate::rt::current::{mailbox_of_os_thread, set_mailbox_of_os_thread, under_test, with};
use crate::rt::record::Left;
use crate::rt::schedule::body;
use crate::rt::thread as model;

/// A started thread, to be joined.
pub struct JoinHandle<T> {
    inner: Inner<T>,
    thread: Thread,
}

enum Inner<T> {
    Real(real::JoinHandle<T>),
    Model(ModelHandle<T>),
}

/// The right to join a thread under test.
struct ModelHandle<T> {
    joins: model::Joins,
    /// Gives the value that the thread has left its type back.
    open: fn(Box<dyn Any>) -> T,
}

impl<T> Drop for ModelHandle<T> {
    fn drop(&mut self) {
        // What the thread left goes with the right to it, outside of the runtime.
        drop(self.joins.give_up());
    }
}

/// A handle to a thread.
#[derive(Clone)]
pub struct Thread {
    kind: Kind,
    name: Option<Arc<str>>,
}

#[derive(Clone)]
enum Kind {
    Real(real::Thread, Option<RealMailbox>),
    Model(u32),
}

/// A thread's identity within a process, or within an execution under test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(IdKind);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum IdKind {
    Real(real::ThreadId),
    Model(u32),
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(code: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if under_test() {
        spawn_model(code, None, Location::caller())
    } else {
        let (code, mailbox) = with_mailbox(code);
        JoinHandle::real(real::spawn(code), mailbox)
    }
}

/// Starts a thread whose code is in a box already.
pub(crate) fn spawn_boxed(
    builder: Builder,
    code: Box<dyn FnOnce() + Send>,
    place: &'static Location<'static>,
) -> std::io::Result<JoinHandle<()>> {
    if under_test() {
        return Ok(spawn_model(code, builder.name, place));
    }
    let (code, mailbox) = with_mailbox(code);
    builder.real().spawn(code).map(|handle| JoinHandle::real(handle, mailbox))
}

pub(crate) fn spawn_model<F, T>(
    code: F,
    name: Option<String>,
    place: &'static Location<'static>,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    crate::rt::schedule::drain(None, place);
    let job = move || body(code, |value| model::leave_value(Box::new(value)));
    let kept: Option<Box<str>> = name.as_deref().map(Into::into);
    let started = with(|world| {
        let number = world.spawn(kept, place);
        world.threads[number as usize].start_code.put(job);
        (number, world.disorder.is_some())
    });
    let (number, any_order) = started.unwrap_or((0, false));
    crate::rt::schedule::detail(|| match &name {
        Some(name) => format!("starts {name}"),
        None => format!("starts thread {number}"),
    });
    if any_order {
        crate::rt::disorder::lets_begin();
    }
    let thread = Thread { kind: Kind::Model(number), name: name.map(Into::into) };
    let open = |value: Box<dyn Any>| match value.downcast() {
        Ok(value) => *value,
        Err(_) => unreachable!("the thread gives values of this type"),
    };
    let handle = ModelHandle { joins: model::Joins::thread(number), open };
    JoinHandle { inner: Inner::Model(handle), thread }
}

impl<T> ModelHandle<T> {
    #[inline(always)]
    fn join(self, place: &'static Location<'static>) -> Result<T> {
        let (joins, open) = (self.joins, self.open);
        model::join(joins.number, place);
        // Nothing is left for the destructor to take.
        std::mem::forget(self);
        match joins.take() {
            Some(Left::Value(value)) => Ok(open(value)),
            Some(Left::Panic(panic)) => {
                model::seen_panic(joins.number);
                Err(panic)
            }
            // The thread was torn down with its execution, so this one is being torn down too.
            None => crate::rt::lock::gone(),
        }
    }
}

impl<T> JoinHandle<T> {
    fn real(handle: real::JoinHandle<T>, mailbox: RealMailbox) -> Self {
        let thread = Thread::real(handle.thread().clone(), Some(mailbox));
        JoinHandle { inner: Inner::Real(handle), thread }
    }

    /// Waits for the thread to end. Gives what it returned, or its panic.
    #[inline(always)]
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.inner {
            Inner::Real(handle) => handle.join(),
            Inner::Model(handle) => handle.join(Location::caller()),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Is the thread over?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.inner {
            Inner::Real(handle) => handle.is_finished(),
            Inner::Model(handle) => model::is_finished(handle.joins.number, Location::caller()),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Thread {
    fn real(thread: real::Thread, mailbox: Option<RealMailbox>) -> Self {
        let name = thread.name().map(Into::into);
        Thread { kind: Kind::Real(thread, mailbox), name }
    }

    /// Where its exceptions arrive when it runs for real.
    pub(crate) fn mailbox(&self) -> Option<&RealMailbox> {
        match &self.kind {
            Kind::Real(_, mailbox) => mailbox.as_ref(),
            Kind::Model(_) => None,
        }
    }

    /// Its number within the execution under test.
    pub(crate) fn number(&self) -> Option<u32> {
        match self.kind {
            Kind::Real(..) => None,
            Kind::Model(number) => Some(number),
        }
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its identity.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.kind {
            Kind::Real(thread, _) => IdKind::Real(thread.id()),
            Kind::Model(number) => IdKind::Model(*number),
        })
    }

    /// Lets the thread's next or current [`park`] go on.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.kind {
            Kind::Real(thread, _) => thread.unpark(),
            Kind::Model(number) => model::unpark(*number, Location::caller()),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Thread");
        shown.field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The code with a mailbox for its thread.
fn with_mailbox<R>(code: impl FnOnce() -> R) -> (impl FnOnce() -> R, RealMailbox) {
    let mailbox = RealMailbox::default();
    let theirs = mailbox.clone();
    let code = move || {
        set_mailbox_of_os_thread(theirs);
        code()
    };
    (code, mailbox)
}

/// The current thread. It is a fault if one of several [symmetric](spawn_symmetric) threads asks for it:
/// they must not be told apart.
#[track_caller]
pub fn current() -> Thread {
    let place = Location::caller();
    with(|world| world.refuse_identity(place));
    itself()
}

/// The current thread, for code that does not tell threads apart.
pub(crate) fn itself() -> Thread {
    let modelled = with(|world| {
        let name = world.me().name.as_deref().map(Into::into);
        Thread { kind: Kind::Model(world.current), name }
    });
    modelled.unwrap_or_else(|| Thread::real(real::current(), Some(mailbox_of_os_thread())))
}

/// Waits for a token from [`Thread::unpark`].
#[track_caller]
pub fn park() {
    if under_test() {
        model::park(false, Location::caller());
    } else {
        real::park();
    }
}

/// Waits for a token, or until the time is over. Under test both may happen.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    if under_test() {
        model::park(true, Location::caller());
    } else {
        real::park_timeout(duration);
    }
}

/// A hint that other threads should go first. A loop that waits by this is recognised: see
/// docs/library.md.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    if under_test() {
        model::yield_now(Location::caller());
    } else {
        real::yield_now();
    }
}

/// Sleeps. Under test time does not pass: others may do anything or nothing meanwhile.
#[inline(always)]
#[track_caller]
pub fn sleep(duration: Duration) {
    if under_test() {
        model::yield_now(Location::caller());
    } else {
        real::sleep(duration);
    }
}

/// Is the current thread unwinding because of a panic?
pub fn panicking() -> bool {
    if under_test() { crate::rt::schedule::is_unwinding() } else { real::panicking() }
}

/// How many threads can run at once. Under test what [`crate::Builder::parallelism`] says, 2 unless
/// it says something else, so that results do not depend on the machine.
pub fn available_parallelism() -> std::io::Result<std::num::NonZero<usize>> {
    let modelled = with(|world| {
        world.me().operated = true;
        world.parallelism
    });
    modelled.map_or_else(real::available_parallelism, Ok)
}

/// Starts threads with names.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A builder for an ordinary thread.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread; traces show the name.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// How large the stack shall be. Under test all stacks have the same size.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, code: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if under_test() {
            return Ok(spawn_model(code, self.name, Location::caller()));
        }
        let (code, mailbox) = with_mailbox(code);
        self.real().spawn(code).map(|handle| JoinHandle::real(handle, mailbox))
    }

    /// Starts a thread that may borrow what lives longer than the scope.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        code: F,
    ) -> std::io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_by(self, code, Location::caller())
    }

    fn real(self) -> real::Builder {
        let mut builder = real::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
