//! The values of `lazy_static!` in the current execution. All threads of an execution run on one thread of
//! the operating system, which performs one execution at a time, so they are kept there.

use std::any::Any;
use std::cell::RefCell;

thread_local! {
    static VALUES: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a value until the end of the execution. Gives where it is.
pub(crate) fn keep<T: 'static>(value: T) -> *const T {
    let value = Box::new(value);
    let place = std::ptr::from_ref(&*value);
    VALUES.with_borrow_mut(|values| values.push(value));
    place
}

/// Begins an execution. What one that was cut has left is not dropped, because it may be half done.
pub(crate) fn begin() {
    VALUES.with_borrow_mut(|values| values.drain(..).for_each(std::mem::forget));
}

/// Ends an execution: drops the values, the last one made first.
pub(crate) fn end() {
    while let Some(value) = VALUES.with_borrow_mut(Vec::pop) {
        drop(value);
    }
}
