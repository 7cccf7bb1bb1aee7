//! Who decides whether a program terminates, where a rule alone does not guarantee it.

use std::sync::atomic::AtomicBool;

use strait_calculus::{ExamineOptions, Program, Verdict, examine};
use strait_explore::Coverage;

/// Decides whether a program terminates under every schedule. The answer has to depend on the
/// program alone (a limit on states is fine, a limit on time is not): the generator is
/// deterministic only as far as its prover is.
pub trait Prover {
    /// `None`: it could not be decided.
    fn terminates(&self, program: &Program) -> Option<bool>;
}

impl<Decide: Fn(&Program) -> Option<bool>> Prover for Decide {
    fn terminates(&self, program: &Program) -> Option<bool> {
        self(program)
    }
}

/// The explorer as prover and as judge of mutants, within a number of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explorer {
    /// Programs with more states are not decided.
    pub max_states: u64,
}

impl Default for Explorer {
    fn default() -> Self {
        Explorer { max_states: 200_000 }
    }
}

impl Explorer {
    /// The verdict on a checked program and how much it speaks for.
    pub fn verdict(&self, program: &Program) -> (Verdict, Coverage) {
        self.verdict_until(program, None)
    }

    /// The prover that gives up when the flag is set. What is generated with it counts only if the flag
    /// is not set afterwards: otherwise it depends on time.
    pub fn until(self, stop: &AtomicBool) -> impl Prover {
        move |program: &Program| decided(self.verdict_until(program, Some(stop)).0)
    }

    fn verdict_until(&self, program: &Program, stop: Option<&AtomicBool>) -> (Verdict, Coverage) {
        let options = ExamineOptions {
            outcomes: false,
            max_states: self.max_states,
            stop,
            ..ExamineOptions::default()
        };
        let examination = examine(program, &options);
        (examination.verdict, examination.coverage)
    }
}

fn decided(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Terminates => Some(true),
        Verdict::Unknown => None,
        Verdict::Diverges | Verdict::Leak | Verdict::Deadlock | Verdict::Panic => Some(false),
    }
}

impl Prover for Explorer {
    fn terminates(&self, program: &Program) -> Option<bool> {
        decided(self.verdict(program).0)
    }
}
