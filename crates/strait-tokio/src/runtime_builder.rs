//! Building runtimes. Under test, only the kind of the runtime and the state of its clock matter.

use std::panic::Location;
use std::time::Duration;

use strait::extend;

use crate::clock;
use crate::runtime::{ModelHandle, Runtime};

/// Builds a runtime.
pub struct Builder {
    real: tokio::runtime::Builder,
    is_current_thread: bool,
    starts_paused: bool,
}

/// Settings that concern the real runtime alone.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?);)*) => {
        $(
            $(#[$doc])*
            pub fn $name(&mut self $(, $argument: $type)?) -> &mut Self {
                self.real.$name($($argument)?);
                self
            }
        )*
    };
}

/// Hooks that only the real runtime calls.
macro_rules! hooks {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            pub fn $name<F: Fn() + Send + Sync + 'static>(&mut self, hook: F) -> &mut Self {
                self.real.$name(hook);
                self
            }
        )*
    };
}

impl Builder {
    /// A runtime whose tasks are all performed by the thread that calls `block_on`.
    pub fn new_current_thread() -> Self {
        let real = tokio::runtime::Builder::new_current_thread();
        Builder { real, is_current_thread: true, starts_paused: false }
    }

    /// A runtime whose tasks are performed by several threads.
    pub fn new_multi_thread() -> Self {
        let real = tokio::runtime::Builder::new_multi_thread();
        Builder { real, is_current_thread: false, starts_paused: false }
    }

    settings! {
        /// Turns on everything that the runtime offers.
        enable_all();
        /// Turns on time.
        enable_time();
        /// How many threads perform tasks. Under test, any number may.
        worker_threads(count: usize);
        /// How many threads perform blocking functions at most. Under test, any number may.
        max_blocking_threads(count: usize);
        /// Names the threads.
        thread_name(name: impl Into<String>);
        /// The size of the stacks.
        thread_stack_size(size: usize);
        /// How long an idle thread is kept.
        thread_keep_alive(duration: Duration);
        /// How often tasks of other threads are looked for.
        global_queue_interval(count: u32);
        /// How often events are looked for.
        event_interval(count: u32);
    }

    hooks! {
        /// Is called by each thread when it starts; not under test.
        on_thread_start;
        /// Is called by each thread when it ends; not under test.
        on_thread_stop;
        /// Is called by each thread before it waits; not under test.
        on_thread_park;
        /// Is called by each thread when it has waited; not under test.
        on_thread_unpark;
    }

    /// Names the threads by a function.
    pub fn thread_name_fn<F: Fn() -> String + Send + Sync + 'static>(
        &mut self,
        name: F,
    ) -> &mut Self {
        self.real.thread_name_fn(name);
        self
    }

    /// Lets the clock stand still at first. Needs a current-thread runtime.
    pub fn start_paused(&mut self, starts_paused: bool) -> &mut Self {
        self.starts_paused = starts_paused;
        self.real.start_paused(starts_paused);
        self
    }

    /// Builds the runtime.
    #[track_caller]
    pub fn build(&mut self) -> std::io::Result<Runtime> {
        if !extend::under_test() {
            return self.real.build().map(Runtime::real);
        }
        let place = Location::caller();
        if self.starts_paused {
            clock::pause(place);
        }
        Ok(Runtime::model(ModelHandle::new(self.is_current_thread, place)))
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.real.fmt(formatter)
    }
}
