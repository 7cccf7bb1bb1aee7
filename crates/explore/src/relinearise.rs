//! Reorders a trace within its Mazurkiewicz equivalence class so that it has few context switches.
//!
//! The events of one thread form a chain, so a partial execution is how far each thread has come.
//! Once a thread runs it may as well run as far as it can: what it would do later costs nothing
//! now. What remains is which thread comes next after that, a shortest path with switches as
//! length. It is searched best first (A*), with the number of threads that have something left as
//! the estimate; when the budget is spent, the path that looks best is completed greedily.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::order::Order;
use crate::system::{System, ThreadId};

/// An equivalent trace with as few switches as `budget` partial executions suffice to find.
pub(crate) fn relinearise<S: System>(
    system: &S,
    trace: &[S::Action],
    budget: usize,
) -> Vec<S::Action> {
    let chains = Chains::new(system, trace);
    let mut seen: FxHashSet<(Vec<u32>, usize)> = FxHashSet::default();
    let mut queue = BinaryHeap::new();
    let mut paths: Vec<Path> = Vec::new();
    let start = Path { done: vec![0; chains.threads.len()], blocks: Vec::new() };
    queue.push((Reverse(chains.left(&start)), 0, Reverse(0)));
    paths.push(start);
    while let Some((_, _, Reverse(index))) = queue.pop() {
        if chains.is_complete(&paths[index]) || seen.len() >= budget {
            return chains
                .complete(&mut paths[index])
                .iter()
                .map(|&event| trace[event].clone())
                .collect();
        }
        for thread in 0..chains.threads.len() {
            let Some(path) = chains.extended(&paths[index], thread) else { continue };
            if seen.insert((path.done.clone(), thread)) {
                let cost = path.blocks.len() + chains.left(&path);
                let progress = path.done.iter().sum::<u32>();
                queue.push((Reverse(cost), progress, Reverse(paths.len())));
                paths.push(path);
            }
        }
    }
    trace.to_vec()
}

/// The events of a trace by thread.
struct Chains {
    threads: Vec<Vec<usize>>,
    /// For each event how far each thread must have come before it.
    needs: Vec<Vec<u32>>,
}

/// A partial execution.
#[derive(Clone)]
struct Path {
    /// How many events of each thread are done.
    done: Vec<u32>,
    /// The threads that ran, each with how far it came.
    blocks: Vec<(usize, u32)>,
}

impl Chains {
    fn new<S: System>(system: &S, trace: &[S::Action]) -> Self {
        let mut order = Order::default();
        let mut names: Vec<ThreadId> = Vec::new();
        let mut threads: Vec<Vec<usize>> = Vec::new();
        for (event, action) in trace.iter().enumerate() {
            order.push(system, &trace[..event], action);
            let name = system.thread(action);
            let thread = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                threads.push(Vec::new());
                threads.len() - 1
            });
            threads[thread].push(event);
        }
        let need = |event: usize, chain: &Vec<usize>| {
            chain.iter().filter(|&&other| order.before(other, event)).count() as u32
        };
        let needs = |event| threads.iter().map(|chain| need(event, chain)).collect();
        Chains { needs: (0..trace.len()).map(needs).collect(), threads }
    }

    /// The thread's next event, if all that it needs is done.
    fn next(&self, path: &Path, thread: usize) -> Option<usize> {
        let event = *self.threads[thread].get(path.done[thread] as usize)?;
        let ready = self.needs[event].iter().zip(&path.done).all(|(need, done)| need <= done);
        ready.then_some(event)
    }

    /// The path with the thread run as far as it can, if it can run at all.
    fn extended(&self, path: &Path, thread: usize) -> Option<Path> {
        self.next(path, thread)?;
        let mut path = path.clone();
        while self.next(&path, thread).is_some() {
            path.done[thread] += 1;
        }
        path.blocks.push((thread, path.done[thread]));
        Some(path)
    }

    fn is_complete(&self, path: &Path) -> bool {
        self.left(path) == 0
    }

    /// How many threads have something left: each needs a block of its own.
    fn left(&self, path: &Path) -> usize {
        let chains = self.threads.iter().zip(&path.done);
        chains.filter(|(chain, done)| chain.len() > **done as usize).count()
    }

    /// The events of a path, which is first completed by running the first thread that can run.
    fn complete(&self, path: &mut Path) -> Vec<usize> {
        while let Some(longer) =
            (0..self.threads.len()).find_map(|thread| self.extended(path, thread))
        {
            *path = longer;
        }
        let mut done = vec![0; self.threads.len()];
        let mut events = Vec::new();
        for &(thread, until) in &path.blocks {
            events.extend_from_slice(&self.threads[thread][done[thread] as usize..until as usize]);
            done[thread] = until;
        }
        events
    }
}
