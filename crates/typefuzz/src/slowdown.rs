//! Time as an oracle: the same compiler with another solver or borrow checker, or in another version, that
//! takes many times as long for the same program. In: what each oracle took for a batch. Out: the program that
//! is to blame, measured alone. Processor time counts, so that a busy machine is no reason for a finding.

use std::time::Duration;

use strait_findings::Kind;

use crate::error::Error;
use crate::judge::Fault;
use crate::oracle::{Oracle, Rejection, cpu_time};

/// What counts as a slowdown.
#[derive(Clone, Copy, Debug)]
pub struct Slowdown {
    /// The processor time that one oracle takes at least beyond what another one takes.
    pub least: Duration,
    /// How many times as long it takes for one program, its start included.
    pub factor: u32,
}

impl Default for Slowdown {
    fn default() -> Self {
        Slowdown { least: Duration::from_secs(2), factor: 20 }
    }
}

impl Slowdown {
    /// The program of a batch that a slower oracle is slow at, if there is one: its place, and what to say.
    /// `times` has what each oracle took for the whole batch.
    pub(crate) fn find(
        &self,
        oracles: &[Box<dyn Oracle>],
        times: &[Option<Duration>],
        programs: &[&str],
    ) -> Result<Option<(usize, Fault)>, Error> {
        for (slow, slow_time) in oracles.iter().zip(times) {
            for (quick, quick_time) in oracles.iter().zip(times) {
                let (Some(slow_time), Some(quick_time)) = (slow_time, quick_time) else { continue };
                if is_comparable(slow.as_ref(), quick.as_ref())
                    && *slow_time >= *quick_time + self.least
                    && let Some(place) = slowest(slow.as_ref(), programs)?
                    && let Some(fault) =
                        self.fault(slow.as_ref(), quick.as_ref(), programs[place])?
                {
                    return Ok(Some((place, fault)));
                }
            }
        }
        Ok(None)
    }

    /// The same about one program, by pairs of these oracles.
    pub(crate) fn at(
        &self,
        oracles: &[Box<dyn Oracle>],
        program: &str,
    ) -> Result<Option<Fault>, Error> {
        for slow in oracles {
            for quick in oracles {
                if is_comparable(slow.as_ref(), quick.as_ref())
                    && let Some(fault) = self.fault(slow.as_ref(), quick.as_ref(), program)?
                {
                    return Ok(Some(fault));
                }
            }
        }
        Ok(None)
    }

    /// Is one oracle slow at a program that is quick for another one? The better of two runs counts.
    fn fault(
        &self,
        slow: &dyn Oracle,
        quick: &dyn Oracle,
        program: &str,
    ) -> Result<Option<Fault>, Error> {
        let Some(quick_time) = cpu_time(quick, &[program])? else { return Ok(None) };
        let mut slow_time = Duration::MAX;
        for _ in 0..2 {
            let Some(time) = cpu_time(slow, &[program])? else { return Ok(None) };
            slow_time = slow_time.min(time);
            if slow_time < quick_time * self.factor || slow_time < quick_time + self.least {
                return Ok(None);
            }
        }
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        let why = Rejection {
            message: format!("takes more than {} times as long", self.factor),
            rendered: format!(
                "{} takes {} of processor time, {} takes {}\n",
                slow.name(),
                seconds(slow_time),
                quick.name(),
                seconds(quick_time)
            ),
            ..Rejection::default()
        };
        Ok(Some(Fault {
            kind: Kind::SLOWDOWN,
            accepts: vec![quick.name().to_owned()],
            rejects: vec![slow.name().to_owned()],
            second: false,
            why,
        }))
    }
}

/// Two tools are not compared with each other, but a tool with itself, by other flags or in another version.
fn is_comparable(slow: &dyn Oracle, quick: &dyn Oracle) -> bool {
    slow.name() != quick.name() && slow.profile().tool() == quick.profile().tool()
}

/// The program that most of the time is spent at, by halves.
fn slowest(oracle: &dyn Oracle, programs: &[&str]) -> Result<Option<usize>, Error> {
    let mut range = 0..programs.len();
    while range.len() > 1 {
        let middle = range.start + range.len() / 2;
        let (one, other) = (range.start..middle, middle..range.end);
        let times = [
            cpu_time(oracle, &programs[one.clone()])?,
            cpu_time(oracle, &programs[other.clone()])?,
        ];
        let [Some(first), Some(second)] = times else { return Ok(None) };
        range = if first >= second { one } else { other };
    }
    Ok((!range.is_empty()).then_some(range.start))
}
