//! `strait-loom` under the name of loom, because `[patch]` replaces a package by one of the same name.
//! The guide's page `docs/coming-from.md` shows how to use it.

pub use strait_loom::{
    MAX_THREADS, alloc, cell, explore, future, hint, lazy_static, model, skip_branch, stop_exploring, sync,
    thread, thread_local,
};
