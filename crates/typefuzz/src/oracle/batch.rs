//! Verdicts on many programs by few runs.
//!
//! Errors in one program can keep a compiler from looking at others, so programs that nothing was
//! said about are judged again without those that were rejected, until a run says nothing more. A
//! run that ends in a crash, or with errors that belong to no program, is split in two.

use std::time::Duration;

use crate::error::Error;
use crate::oracle::{Oracle, Run, Verdict};

/// The verdict on every program.
pub fn judge_all(oracle: &dyn Oracle, programs: &[&str]) -> Result<Vec<Verdict>, Error> {
    Ok(judge_timed(oracle, programs)?.0)
}

/// The same, and the processor time that the first run over all programs took.
pub(crate) fn judge_timed(
    oracle: &dyn Oracle,
    programs: &[&str],
) -> Result<(Vec<Verdict>, Option<Duration>), Error> {
    let mut time = None;
    let mut verdicts = vec![Verdict::Accepted; programs.len()];
    let mut groups: Vec<Vec<usize>> = vec![(0..programs.len()).collect()];
    while let Some(group) = groups.pop() {
        if group.is_empty() {
            continue;
        }
        let texts: Vec<&str> = group.iter().map(|position| programs[*position]).collect();
        let Run { rejections, astray, crashed, stopped, cpu } = oracle.run(&texts)?.0;
        if group.len() == programs.len() {
            time = time.or(cpu);
        }
        if stopped {
            for position in group {
                verdicts[position] = Verdict::Unknown;
            }
            continue;
        }
        let mut rest = Vec::new();
        let mut rejected = 0;
        for (position, rejection) in group.iter().zip(rejections) {
            match rejection {
                Some(rejection) => {
                    rejected += 1;
                    verdicts[*position] = Verdict::Rejected(rejection);
                }
                None => rest.push(*position),
            }
        }
        match (crashed, astray) {
            (None, None) if rejected == 0 => {}
            (None, _) if rejected > 0 => groups.push(rest),
            (Some((how, output)), _) if group.len() == 1 => {
                verdicts[group[0]] = Verdict::Crashed { how, output };
            }
            (_, Some(rejection)) if group.len() == 1 => {
                verdicts[group[0]] = Verdict::Rejected(rejection);
            }
            // A crash may hide the errors of the others, and theirs may hide it.
            _ => {
                let (one, other) = group.split_at(group.len() / 2);
                groups.extend([one.to_vec(), other.to_vec()]);
            }
        }
    }
    Ok((verdicts, time))
}

/// The processor time of one run over these programs; `None` if it is not known, or if we were asked to stop.
pub(crate) fn cpu_time(oracle: &dyn Oracle, programs: &[&str]) -> Result<Option<Duration>, Error> {
    let Run { stopped, cpu, .. } = oracle.run(programs)?.0;
    Ok(cpu.filter(|_| !stopped))
}
