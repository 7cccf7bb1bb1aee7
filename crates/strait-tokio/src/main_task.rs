//! Checking asynchronous programs: what `strait::check` and its kin do for functions.

use std::future::Future;

use strait::{Builder, Outcomes, Value};

use crate::runtime::perform_main;

/// Checks that no execution of the program fails. Panics with a report otherwise.
#[track_caller]
pub fn check<F>(program: impl Fn() -> F + Send + Sync + 'static) -> Outcomes<F::Output>
where
    F: Future + 'static,
    F::Output: Value,
{
    Search::new(Builder::new()).check(program)
}

/// All outcomes of the program.
#[track_caller]
pub fn outcomes<F>(program: impl Fn() -> F + Send + Sync + 'static) -> Outcomes<F::Output>
where
    F: Future + 'static,
    F::Output: Value,
{
    Search::new(Builder::new()).outcomes(program)
}

/// The set of values that the program gives, sorted, each as `Ok`, and failures as text.
#[track_caller]
pub fn results<F>(program: impl Fn() -> F + Send + Sync + 'static) -> Vec<Result<F::Output, String>>
where
    F: Future + 'static,
    F::Output: Value + Ord,
{
    Search::new(Builder::new()).results(program)
}

/// How to check an asynchronous program: how to search, and on which kind of runtime.
#[derive(Clone, Debug)]
pub struct Search {
    builder: Builder,
    is_current_thread: bool,
    start_paused: bool,
}

impl Search {
    /// On a multi-thread runtime, with a clock that runs.
    pub fn new(builder: Builder) -> Self {
        Search { builder, is_current_thread: false, start_paused: false }
    }

    /// On a current-thread runtime: tasks change places only where they wait.
    pub fn current_thread(mut self) -> Self {
        self.is_current_thread = true;
        self
    }

    /// On a current-thread runtime whose clock stands still at first.
    pub fn start_paused(mut self) -> Self {
        self.start_paused = true;
        self.current_thread()
    }

    fn main<F: Future, P: Fn() -> F>(&self, program: P) -> impl Fn() -> F::Output + use<F, P> {
        let Search { is_current_thread, start_paused, .. } = *self;
        move || perform_main(is_current_thread, start_paused, program())
    }

    /// Checks that no execution of the program fails. Panics with a report otherwise.
    #[track_caller]
    pub fn check<F>(&self, program: impl Fn() -> F + Send + Sync + 'static) -> Outcomes<F::Output>
    where
        F: Future + 'static,
        F::Output: Value,
    {
        self.builder.check(self.main(program))
    }

    /// All outcomes of the program.
    #[track_caller]
    pub fn outcomes<F>(
        &self,
        program: impl Fn() -> F + Send + Sync + 'static,
    ) -> Outcomes<F::Output>
    where
        F: Future + 'static,
        F::Output: Value,
    {
        self.builder.outcomes(self.main(program))
    }

    /// The set of values that the program gives, sorted, each as `Ok`, and failures as text.
    #[track_caller]
    pub fn results<F>(
        &self,
        program: impl Fn() -> F + Send + Sync + 'static,
    ) -> Vec<Result<F::Output, String>>
    where
        F: Future + 'static,
        F::Output: Value + Ord,
    {
        self.builder.results(self.main(program))
    }
}
