//! Case study of Déjà Fu, Haskell 2015, section 6.2: speculative search by several workers. Results went straight
//! into the variable that the reader waits for, so a reader of all results could see some of them.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use strait::stm::{TVar, atomically, check};
use strait::thread;

/// When the reader may go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Publish {
    /// As soon as anything was found: right for the first result, wrong for all of them.
    AtOnce,
    /// When all workers are done.
    AtTheEnd,
}

/// All items for which the condition holds, tried by two workers.
pub fn find_all(
    items: Vec<u8>,
    publish: Publish,
    accepts: impl Fn(u8) -> bool + Send + Sync + Copy + 'static,
) -> Vec<u8> {
    let results = TVar::new(Vec::new());
    let running = TVar::new(2);
    let work = TVar::new(items);
    let worker = |_| {
        let (results, running, work) = (results.clone(), running.clone(), work.clone());
        thread::spawn(move || {
            loop {
                let item = atomically(|transaction| {
                    let mut left = transaction.read(&work)?;
                    let item = left.pop();
                    transaction.write(&work, left)?;
                    Ok(item)
                });
                let Some(item) = item else { break };
                if accepts(item) {
                    atomically(|transaction| {
                        transaction.modify(&results, |mut found: Vec<u8>| {
                            found.push(item);
                            found
                        })
                    });
                }
            }
            atomically(|transaction| transaction.modify(&running, |count: u8| count - 1));
        })
    };
    let workers: Vec<_> = (0..2).map(worker).collect();
    let mut found = atomically(|transaction| {
        let found = transaction.read(&results)?;
        let done = transaction.read(&running)? == 0;
        check(done || (publish == Publish::AtOnce && !found.is_empty()))?;
        Ok(found)
    });
    drop(workers);
    found.sort_unstable();
    found
}

/// The first item for which the condition holds, whichever that is; the other worker is ignored.
pub fn find_any(items: Vec<u8>) -> Option<u8> {
    find_all(items, Publish::AtOnce, |_| true).first().copied()
}

fn main() {
    println!("{}", strait::outcomes(|| find_all(vec![0, 1], Publish::AtOnce, |_| true)));
    println!("{}", strait::outcomes(|| find_all(vec![0, 1], Publish::AtTheEnd, |_| true)));
}

#[cfg(test)]
mod tests {
    use super::{Publish, find_all, find_any};
    use strait::{Builder, always_same, gives};

    #[test]
    fn a_reader_of_all_results_can_see_some() {
        let search = || find_all(vec![0, 1], Publish::AtOnce, |_| true);
        assert!(Builder::new().test(search, &[gives([vec![0], vec![1], vec![0, 1]])])[0].holds());
    }

    #[test]
    fn results_are_complete_when_all_workers_are_done() {
        let search = || find_all(vec![0, 1], Publish::AtTheEnd, |item| item != 1);
        assert!(Builder::new().test(search, &[gives([vec![0]]), always_same()])[0].holds());
    }

    #[test]
    fn any_result_will_do() {
        let verdicts = Builder::new().test(|| find_any(vec![3, 4]), &[gives([Some(3), Some(4)])]);
        assert!(verdicts[0].holds(), "{}", verdicts[0]);
    }
}
