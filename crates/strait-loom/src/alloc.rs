//! Memory that is checked for leaks.

pub use strait::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
