//! The search for gates that make a test fail. In: a test binary in which every candidate has a gate that the
//! environment closes. Out: the first few gates and the mode with which the fault shows in every one of several
//! runs. One gate is tried before two.

use std::path::Path;
use std::time::{Duration, Instant};

use strait_golang::Go;
use strait_toolchain::Spec;

use super::evidence::shows;
use super::gates::{Gate, Waits};
use super::text::{LIMIT, Mode, NamedMode, VARIABLE};
use crate::class::FindingClass;
use crate::error::Error;

/// A wait that lets other goroutines run, by the real clock.
const SHORT: Duration = Duration::from_millis(20);
/// A wait that is longer than most timeouts of tests, by the real clock.
const LONG: Duration = Duration::from_secs(2);
/// A wait that is longer than any timeout, by the clock of a bubble.
const VERY_LONG: Duration = Duration::from_secs(3600);
/// Of so many candidates pairs are tried.
const PAIRED: usize = 10;
/// How much longer waits become if they turn out to be too short.
const SLOWER: u32 = 5;
/// In so many runs after the first one the fault has to show.
const AGAIN: u64 = 4;

/// Gates and a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) mode: Mode,
    pub(crate) gates: Vec<Gate>,
}

impl Attempt {
    /// The same with longer waits, for a machine that is busy; `None` if the real clock does not matter.
    pub(crate) fn slower(&self) -> Option<Attempt> {
        let longest = self.gates.iter().map(|gate| gate.wait).max()?;
        let may_be_slower = self.mode == Mode::Real && longest < LONG;
        let slower = |gate: &Gate| Gate { wait: gate.wait * SLOWER, ..gate.clone() };
        let gates = self.gates.iter().map(slower).collect();
        may_be_slower.then_some(Attempt { mode: self.mode, gates })
    }
}

/// What is searched.
pub(crate) struct Search<'a> {
    pub(crate) go: &'a Go,
    /// The test binary and the folder in which it runs.
    pub(crate) binary: &'a Path,
    pub(crate) directory: &'a Path,
    pub(crate) class: FindingClass,
    /// The finding's places as they stand in stacks.
    pub(crate) places: &'a [String],
    /// The modes that are available, and the test that uses each.
    pub(crate) modes: &'a [NamedMode],
}

impl Search<'_> {
    /// Looks for gates before these statements until the deadline. Also says how many attempts were made.
    pub(crate) fn run(
        &self,
        candidates: &[usize],
        deadline: Instant,
    ) -> Result<(Option<Attempt>, u64), Error> {
        let mut tried = 0;
        for attempt in attempts(candidates) {
            if Instant::now() >= deadline || self.go.is_cancelled() {
                break;
            }
            if !self.modes.iter().any(|(mode, _)| *mode == attempt.mode) {
                continue;
            }
            tried += 1;
            if self.fails(&attempt)? && self.count(&attempt, AGAIN)? == AGAIN {
                return Ok((Some(attempt), tried));
            }
        }
        Ok((None, tried))
    }

    /// In how many of so many runs the fault shows; ends at the first one in which it does not.
    fn count(&self, attempt: &Attempt, runs: u64) -> Result<u64, Error> {
        for failed in 0..runs {
            if !self.fails(attempt)? {
                return Ok(failed);
            }
        }
        Ok(runs)
    }

    fn fails(&self, attempt: &Attempt) -> Result<bool, Error> {
        let named = self.modes.iter().find(|(mode, _)| *mode == attempt.mode);
        let Some((_, name)) = named else { return Ok(false) };
        let gates: Vec<String> = attempt.gates.iter().map(switch).collect();
        let spec = Spec::new(self.binary).variable(VARIABLE, gates.join(","));
        let output = run_test(self.go, spec, self.directory, name, real_wait(attempt))?;
        Ok(shows(self.class, self.places, &output))
    }
}

/// How long gates hold goroutines by the real clock, at most.
pub(crate) fn real_wait(attempt: &Attempt) -> Duration {
    match attempt.mode {
        Mode::Real => attempt.gates.iter().map(|gate| gate.wait).sum::<Duration>() * 2,
        Mode::Bubble => Duration::ZERO,
    }
}

/// Runs one test of a binary and returns everything that it wrote.
pub(crate) fn run_test(
    go: &Go,
    spec: Spec,
    directory: &Path,
    name: &str,
    gates: Duration,
) -> Result<String, Error> {
    let wall = LIMIT * 4 + gates * 2;
    let spec = spec
        .arguments([format!("-test.run=^{name}$"), "-test.count=1".to_owned()])
        .directory(directory)
        .variable("GOTRACEBACK", "all")
        .wall(wall)
        .keep(4 << 20);
    let finished = go.run_cancellable(spec)?;
    Ok(format!("{}\n{}", finished.stdout.text(), finished.stderr.text()))
}

/// What the environment says of a gate.
fn switch(gate: &Gate) -> String {
    let who = match gate.who {
        Waits::All => "all",
        Waits::First => "first",
    };
    format!("{}:{who}:{}", gate.statement, gate.wait.as_millis())
}

/// Everything that is tried, in order.
fn attempts(candidates: &[usize]) -> impl Iterator<Item = Attempt> + '_ {
    let attempt = |mode, gates| Attempt { mode, gates };
    let without = [Mode::Real, Mode::Bubble].map(|mode| attempt(mode, vec![])).into_iter();
    let quick = [
        (Mode::Real, Waits::All, SHORT),
        (Mode::Real, Waits::First, SHORT),
        (Mode::Bubble, Waits::First, VERY_LONG),
        (Mode::Bubble, Waits::All, SHORT),
    ];
    let one = candidates.iter().flat_map(move |statement| {
        quick
            .map(|(mode, who, wait)| attempt(mode, vec![Gate { statement: *statement, who, wait }]))
    });
    let slow = candidates.iter().map(move |statement| {
        attempt(Mode::Real, vec![Gate { statement: *statement, who: Waits::First, wait: LONG }])
    });
    let paired = &candidates[..candidates.len().min(PAIRED)];
    let pairs = paired.iter().enumerate().flat_map(move |(place, first)| {
        paired.iter().enumerate().filter(move |(other, _)| *other != place).flat_map(
            move |(_, second)| {
                // The second one holds longer, so that an order of three steps can be made.
                let gate = |statement: &usize, who, wait| Gate { statement: *statement, who, wait };
                [
                    (Mode::Real, Waits::First, SHORT),
                    (Mode::Real, Waits::All, SHORT),
                    (Mode::Bubble, Waits::First, VERY_LONG),
                ]
                .map(|(mode, who, wait)| {
                    let gates = vec![gate(first, who, wait), gate(second, who, wait * 3)];
                    attempt(mode, gates)
                })
            },
        )
    });
    // A long wait takes as long in every attempt.
    without.chain(one).chain(pairs).chain(slow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_slow(attempt: &Attempt) -> bool {
        attempt.mode == Mode::Real && attempt.gates.iter().any(|gate| gate.wait >= LONG)
    }

    #[test]
    fn one_gate_is_tried_before_two() {
        let all: Vec<Attempt> = attempts(&[7, 9]).collect();
        let counts: Vec<usize> = all.iter().map(|attempt| attempt.gates.len()).collect();
        let quick: Vec<usize> =
            all.iter().filter(|one| !is_slow(one)).map(|one| one.gates.len()).collect();
        assert!(quick.is_sorted(), "{counts:?}");
        assert!(all.iter().rev().take(2).all(is_slow), "what takes long comes last");
        assert_eq!(counts.iter().filter(|count| **count == 0).count(), 2);
        assert_eq!(counts.iter().filter(|count| **count == 1).count(), 10);
        assert_eq!(counts.iter().filter(|count| **count == 2).count(), 6);
        assert_eq!(switch(&all[2].gates[0]), "7:all:20");
        assert_eq!(attempts(&[]).count(), 2);
    }
}
