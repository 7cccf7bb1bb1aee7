//! Small programs of operations: some before the threads start, some in each thread, some after all have ended.

use std::fmt::{self, Debug};

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program<P> {
    /// Before the threads start.
    pub(crate) before: Vec<P>,
    /// In each thread.
    pub(crate) threads: Vec<Vec<P>>,
    /// When all threads have ended.
    pub(crate) after: Vec<P>,
}

impl<P: Debug> fmt::Display for Program<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.before.is_empty() {
            writeln!(formatter, "    before: {:?}", self.before)?;
        }
        for (number, operations) in self.threads.iter().enumerate() {
            writeln!(formatter, "    thread {}: {operations:?}", number + 1)?;
        }
        if !self.after.is_empty() {
            writeln!(formatter, "    after: {:?}", self.after)?;
        }
        Ok(())
    }
}

/// How large programs are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) before: usize,
    pub(crate) threads: usize,
    pub(crate) each: usize,
    pub(crate) after: usize,
}

/// All sequences of operations of a length.
fn sequences<P: Clone>(operations: &[P], length: usize) -> Vec<Vec<P>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let longer = |sequence: &Vec<P>| {
            let extend = |operation: &P| {
                let mut sequence = sequence.clone();
                sequence.push(operation.clone());
                sequence
            };
            operations.iter().map(extend).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// All ways to give each of so many threads one of the sequences; which thread has which does not matter.
fn shared<P: Clone>(sequences: &[Vec<P>], threads: usize) -> Vec<Vec<Vec<P>>> {
    fn fill<P: Clone>(
        sequences: &[Vec<P>],
        from: usize,
        left: usize,
        chosen: &mut Vec<Vec<P>>,
        all: &mut Vec<Vec<Vec<P>>>,
    ) {
        if left == 0 {
            return all.push(chosen.clone());
        }
        for index in from..sequences.len() {
            chosen.push(sequences[index].clone());
            fill(sequences, index, left - 1, chosen, all);
            chosen.pop();
        }
    }
    let mut all = Vec::new();
    fill(sequences, 0, threads, &mut Vec::new(), &mut all);
    all
}

/// All programs of at most this size, the smaller ones first.
pub(crate) fn programs<P: Clone>(operations: &[P], size: Size) -> Vec<Program<P>> {
    let mut all = Vec::new();
    for each in 1..=size.each {
        let parallel = shared(&sequences(operations, each), size.threads);
        for before in (0..=size.before).flat_map(|length| sequences(operations, length)) {
            for after in (0..=size.after).flat_map(|length| sequences(operations, length)) {
                for threads in &parallel {
                    let (before, threads) = (before.clone(), threads.clone());
                    all.push(Program { before, threads, after: after.clone() });
                }
            }
        }
    }
    let operations = |program: &Program<P>| {
        let threads: usize = program.threads.iter().map(Vec::len).sum();
        program.before.len() + threads + program.after.len()
    };
    all.sort_by_key(operations);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_counted_up_to_the_exchange_of_threads() {
        let size = Size { before: 0, threads: 2, each: 1, after: 0 };
        // Of two operations: aa, ab, bb.
        assert_eq!(programs(&['a', 'b'], size).len(), 3);
        let size = Size { before: 0, threads: 2, each: 2, after: 0 };
        // Besides, two of four sequences: 4 * 5 / 2.
        assert_eq!(programs(&['a', 'b'], size).len(), 3 + 10);
    }
}
