//! Software transactional memory (Déjà Fu, Haskell 2015, section 2.2): [`TVar`]s, and transactions that happen
//! as a whole or not at all.
//!
//! A transaction is a closure that reads and writes through the [`Transaction`] it is given. It may
//! be performed several times before it succeeds, so it should do nothing else. For real,
//! transactions keep a log that is validated and written under the locks of the variables; under
//! test one transaction is one step (`stm/modelled.rs`).

mod modelled;

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::rt::current::{under_test, with};
use crate::rt::slot::Slot;

/// Why a transaction did not succeed.
#[derive(Debug)]
pub enum Abort {
    /// It wants to be tried again when something it has read has changed.
    Retry,
    /// It threw an exception.
    Throw(Box<dyn Any + Send>),
}

/// What a part of a transaction gives.
pub type Stm<T> = Result<T, Abort>;

/// Aborts the transaction until something it has read has changed.
pub fn retry<T>() -> Stm<T> {
    Err(Abort::Retry)
}

/// Aborts the transaction until something it has read has changed, unless the condition holds.
pub fn check(condition: bool) -> Stm<()> {
    if condition { Ok(()) } else { retry() }
}

/// Aborts the transaction with an exception.
pub fn throw<T, E: Any + Send>(exception: E) -> Stm<T> {
    Err(Abort::Throw(Box::new(exception)))
}

type Stored = Arc<dyn Any + Send + Sync>;

/// What a variable holds.
struct Content {
    value: Stored,
    version: u64,
    /// Model threads that wait for it to change.
    waiters: Vec<u32>,
}

/// What the clones of a variable share.
struct Variable {
    slot: Slot,
    content: Mutex<Content>,
}

/// A variable for transactions. A clone is the same variable.
pub struct TVar<T> {
    variable: Arc<Variable>,
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T> Clone for TVar<T> {
    fn clone(&self) -> Self {
        TVar { variable: self.variable.clone(), marker: std::marker::PhantomData }
    }
}

impl<T> fmt::Debug for TVar<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TVar").finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> TVar<T> {
    pub(crate) fn slot(&self) -> &Slot {
        &self.variable.slot
    }
}

impl<T: Clone + Send + Sync + 'static> TVar<T> {
    /// A new variable.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let content =
            Mutex::new(Content { value: Arc::new(value), version: 0, waiters: Vec::new() });
        let variable = Arc::new(Variable { slot: Slot::new(modelled::TVAR), content });
        TVar { variable, marker: std::marker::PhantomData }
    }

    /// The value outside of any transaction: a transaction of its own.
    #[track_caller]
    pub fn read(&self) -> T {
        atomically(|transaction| transaction.read(self))
    }
}

/// One variable in a transaction's log.
#[derive(Clone)]
struct Entry {
    variable: Arc<Variable>,
    /// The version that was read, if any was.
    seen: Option<u64>,
    value: Stored,
    written: bool,
}

/// A transaction in progress.
#[derive(Default)]
pub struct Transaction {
    log: Rc<RefCell<Vec<Entry>>>,
}

impl fmt::Debug for Transaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Transaction").finish_non_exhaustive()
    }
}

impl Transaction {
    fn entry(&mut self, variable: &Arc<Variable>) -> usize {
        let mut log = self.log.borrow_mut();
        if let Some(known) = log.iter().position(|entry| Arc::ptr_eq(&entry.variable, variable)) {
            return known;
        }
        let (value, version) = {
            let content = locked(&variable.content);
            (content.value.clone(), content.version)
        };
        let (variable, seen) = (variable.clone(), Some(version));
        log.push(Entry { variable, seen, value, written: false });
        log.len() - 1
    }

    /// The value of a variable, as this transaction sees it.
    pub fn read<T: Clone + Send + Sync + 'static>(&mut self, variable: &TVar<T>) -> Stm<T> {
        let index = self.entry(&variable.variable);
        let value = self.log.borrow()[index].value.clone();
        match value.downcast::<T>() {
            Ok(value) => Ok((*value).clone()),
            Err(_) => unreachable!("a TVar<T> holds a T"),
        }
    }

    /// Sets a variable, if the transaction succeeds.
    pub fn write<T: Clone + Send + Sync + 'static>(
        &mut self,
        variable: &TVar<T>,
        value: T,
    ) -> Stm<()> {
        let index = self.entry(&variable.variable);
        let entry = &mut self.log.borrow_mut()[index];
        entry.value = Arc::new(value);
        entry.written = true;
        Ok(())
    }

    /// Changes a variable, if the transaction succeeds.
    pub fn modify<T: Clone + Send + Sync + 'static>(
        &mut self,
        variable: &TVar<T>,
        change: impl FnOnce(T) -> T,
    ) -> Stm<()> {
        let value = self.read(variable)?;
        self.write(variable, change(value))
    }

    /// The first part, or the second if the first retries; what the first wrote is forgotten then.
    pub fn or_else<T>(
        &mut self,
        first: impl FnOnce(&mut Transaction) -> Stm<T>,
        second: impl FnOnce(&mut Transaction) -> Stm<T>,
    ) -> Stm<T> {
        let before = self.log.borrow().clone();
        match first(self) {
            Err(Abort::Retry) => {
                self.forget_writes(before);
                second(self)
            }
            result => result,
        }
    }

    /// The part; if it throws an exception of this type, what it wrote is forgotten and the handler
    /// goes on.
    pub fn catch<T, E: Any>(
        &mut self,
        part: impl FnOnce(&mut Transaction) -> Stm<T>,
        handler: impl FnOnce(&mut Transaction, E) -> Stm<T>,
    ) -> Stm<T> {
        let before = self.log.borrow().clone();
        match part(self) {
            Err(Abort::Throw(payload)) => match payload.downcast::<E>() {
                Ok(exception) => {
                    self.forget_writes(before);
                    handler(self, *exception)
                }
                Err(payload) => Err(Abort::Throw(payload)),
            },
            result => result,
        }
    }

    /// Goes back to an earlier log, but remembers what was read since: a retry waits for that too.
    fn forget_writes(&mut self, before: Vec<Entry>) {
        let mut log = self.log.borrow_mut();
        for (index, entry) in log.iter_mut().enumerate() {
            match before.get(index) {
                Some(old) => *entry = old.clone(),
                None if entry.written => {
                    let content = locked(&entry.variable.content);
                    entry.value = content.value.clone();
                    drop(content);
                    entry.written = false;
                }
                None => {}
            }
        }
    }
}

/// Performs a transaction until it succeeds. An exception that it throws is thrown here.
#[track_caller]
pub fn atomically<T>(transaction: impl Fn(&mut Transaction) -> Stm<T>) -> T {
    match try_atomically(transaction) {
        Ok(value) => value,
        Err(payload) => {
            with(crate::rt::world::World::begin_unwinding);
            std::panic::resume_unwind(payload)
        }
    }
}

/// Performs a transaction until it succeeds or throws an exception.
#[track_caller]
pub fn try_atomically<T>(
    transaction: impl Fn(&mut Transaction) -> Stm<T>,
) -> Result<T, Box<dyn Any + Send>> {
    let place = Location::caller();
    loop {
        let done = if under_test() {
            modelled::attempt(&transaction, place)
        } else {
            performed(&transaction)
        };
        if let Some(result) = done {
            return result;
        }
    }
}

/// How many transactions have changed something, for those that wait for a change.
static CHANGES: (Mutex<u64>, Condvar) = (Mutex::new(0), Condvar::new());

/// One attempt for real; `None` if it has to be tried again.
fn performed<T>(
    transaction: impl Fn(&mut Transaction) -> Stm<T>,
) -> Option<Result<T, Box<dyn Any + Send>>> {
    let before = *locked(&CHANGES.0);
    let mut attempt = Transaction::default();
    let result = transaction(&mut attempt);
    let mut log = attempt.log.take();
    // Locks are taken in the order of their addresses, so that transactions cannot deadlock.
    log.sort_by_key(|entry| Arc::as_ptr(&entry.variable).addr());
    let mut contents: Vec<MutexGuard<'_, Content>> =
        log.iter().map(|entry| locked(&entry.variable.content)).collect();
    let fresh = |(entry, content): (&Entry, &MutexGuard<'_, Content>)| {
        entry.seen.is_none_or(|seen| seen == content.version)
    };
    if !log.iter().zip(&contents).all(fresh) {
        return None;
    }
    match result {
        Ok(value) => {
            let mut changed = false;
            for (entry, content) in log.iter().zip(&mut contents).filter(|(entry, _)| entry.written)
            {
                content.value = entry.value.clone();
                content.version += 1;
                changed = true;
            }
            drop(contents);
            if changed {
                *locked(&CHANGES.0) += 1;
                CHANGES.1.notify_all();
            }
            Some(Ok(value))
        }
        Err(Abort::Throw(payload)) => Some(Err(payload)),
        Err(Abort::Retry) => {
            drop(contents);
            let mut changes = locked(&CHANGES.0);
            while *changes == before {
                changes = CHANGES.1.wait(changes).unwrap_or_else(PoisonError::into_inner);
            }
            None
        }
    }
}
