//! `lazy_static!`: values that are made when they are first used, anew in each execution, and dropped at
//! its end.
#![allow(
    unsafe_code,
    reason = "a value that lasts as long as an execution is handed out as a static one"
)]

use std::fmt;

use strait::sync::OnceLock;

pub use crate::thread::{AccessError, panicking, yield_now};

/// A value that is made when it is first used.
pub struct Lazy<T: 'static> {
    make: fn() -> T,
    place: OnceLock<Place<T>>,
}

/// Where the value of the current execution is.
struct Place<T>(*const T);

// SAFETY: as in loom, whether the value may be shared is not asked: with the real `lazy_static!`, which asks
// for that, the same code compiles.
unsafe impl<T> Send for Place<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Place<T> {}

impl<T: 'static> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Self {
        Lazy { make, place: OnceLock::new_static() }
    }

    /// The value. It must not be used after the execution has ended.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        let place = self.place.get_or_init(|| Place(crate::statics::keep((self.make)())));
        // SAFETY: the value is kept until the execution ends, and no code of it runs after that.
        unsafe { &*place.0 }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad("Lazy { .. }")
    }
}

/// Declares values that are made when they are first used, as `lazy_static::lazy_static!` does.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $(#[$attribute])*
        #[allow(missing_copy_implementations, non_camel_case_types)]
        $visible struct $name {
            __private_field: (),
        }
        #[doc(hidden)]
        $visible static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;
            fn deref(&self) -> &$type {
                fn make() -> $type {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(make);
                LAZY.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
