//! Thread-local values, as `std::thread_local!`: under test each model thread has its own, made anew
//! in each execution and dropped at the end of its thread.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::rt::current::{under_test, with};

/// Hands the real thread-local value to an access.
#[doc(hidden)]
pub type Real<T> = fn(&mut dyn FnMut(&T));

/// A thread-local value, declared by [`crate::thread_local!`].
pub struct LocalKey<T: 'static> {
    real: Real<T>,
    make: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: Real<T>, make: fn() -> T) -> Self {
        LocalKey { real, make }
    }

    /// Accesses the current thread's value, which is made first if there is none.
    pub fn with<R>(&'static self, access: impl FnOnce(&T) -> R) -> R {
        if under_test() {
            return access(&self.modelled());
        }
        let (mut access, mut result) = (Some(access), None);
        (self.real)(&mut |value| {
            if let Some(access) = access.take() {
                result = Some(access(value));
            }
        });
        match result {
            Some(result) => result,
            None => unreachable!("the access is performed once"),
        }
    }

    /// The current model thread's value.
    fn modelled(&'static self) -> Rc<T> {
        let key = std::ptr::from_ref(self).addr();
        let known = with(|world| {
            world.me().operated = true;
            let locals = &world.me().locals;
            locals.iter().find(|(other, _)| *other == key).map(|(_, value)| value.clone())
        });
        if let Some(value) = known.flatten().and_then(|value| value.downcast().ok()) {
            return value;
        }
        // Code of the user, which may use other thread-local values.
        let value = Rc::new((self.make)());
        let kept: Rc<dyn Any> = value.clone();
        with(|world| {
            world.locals += 1;
            world.me().locals.push((key, kept));
        });
        value
    }
}

impl<T: 'static> LocalKey<std::cell::Cell<T>> {
    /// Sets the current thread's value and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Takes the current thread's value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(std::cell::Cell::take)
    }

    /// Sets the current thread's value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }
}

impl<T: Copy + 'static> LocalKey<std::cell::Cell<T>> {
    /// The current thread's value.
    pub fn get(&'static self) -> T {
        self.with(std::cell::Cell::get)
    }
}

impl<T: 'static> LocalKey<std::cell::RefCell<T>> {
    /// Sets the current thread's value and gives the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Takes the current thread's value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(std::cell::RefCell::take)
    }

    /// Sets the current thread's value.
    pub fn set(&'static self, value: T) {
        self.replace(value);
    }

    /// Accesses the current thread's value.
    pub fn with_borrow<R>(&'static self, access: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| access(&cell.borrow()))
    }

    /// Accesses the current thread's value to change it.
    pub fn with_borrow_mut<R>(&'static self, access: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| access(&mut cell.borrow_mut()))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Drops the values of the current model thread, the last one made first, and those that their
/// destructors make.
pub(crate) fn drop_all() {
    while let Some((_, value)) = with(|world| {
        let local = world.me().locals.pop();
        world.locals -= u32::from(local.is_some());
        local
    })
    .flatten()
    {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// Declares thread-local values, as `std::thread_local!` does.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const $init:block
     $(; $($rest:tt)*)?) => {
        $crate::thread_local! { $(#[$attribute])* $visible static $name: $type = $init }
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $init:expr
     $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visible static $name: $crate::thread::LocalKey<$type> = {
            ::std::thread_local! { static REAL: $type = $init; }
            fn real(access: &mut dyn FnMut(&$type)) {
                REAL.with(|value| access(value));
            }
            fn make() -> $type {
                $init
            }
            $crate::thread::LocalKey::new(real, make)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}
