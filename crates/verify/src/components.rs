//! Strongly connected components of a graph given as arrays (Tarjan's algorithm, without
//! recursion). Components are numbered so that every edge between two of them leads from the
//! higher number to the lower one.

use crate::watch::Watch;

/// The component of each state.
pub struct Components {
    /// By state.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: u32,
}

/// A graph whose states are numbered.
pub trait Arrows {
    /// How many states.
    fn size(&self) -> u32;
    /// Where the edges of a state lead.
    fn targets(&self, state: u32) -> &[u32];
}

/// Not visited yet, or in no complete component yet.
const UNSEEN: u32 = u32::MAX;

/// The components of all states. When the watch runs out, they are wrong but well-formed.
pub fn components(graph: &impl Arrows, watch: &Watch<'_>) -> Components {
    let states = graph.size();
    let mut of = vec![UNSEEN; states as usize];
    let mut number = vec![UNSEEN; states as usize];
    let mut low = vec![UNSEEN; states as usize];
    let mut open: Vec<u32> = Vec::new();
    // States whose edges are being looked at, and which edge is next.
    let mut frames: Vec<(u32, u32)> = Vec::new();
    let (mut index, mut count) = (0, 0);
    for root in 0..states {
        if watch.is_over() {
            break;
        }
        if number[root as usize] != UNSEEN {
            continue;
        }
        frames.push((root, 0));
        while let Some((state, next)) = frames.last_mut().filter(|_| !watch.is_over()) {
            let state = *state;
            if number[state as usize] == UNSEEN {
                number[state as usize] = index;
                low[state as usize] = index;
                index += 1;
                open.push(state);
            }
            let targets = graph.targets(state);
            let mut lowest = low[state as usize];
            let mut unseen = None;
            while let Some(target) = targets.get(*next as usize) {
                if number[*target as usize] == UNSEEN {
                    // This edge is looked at again when the target is done.
                    unseen = Some(*target);
                    break;
                }
                if of[*target as usize] == UNSEEN {
                    lowest = lowest.min(low[*target as usize]);
                }
                *next += 1;
            }
            low[state as usize] = lowest;
            if let Some(target) = unseen {
                frames.push((target, 0));
                continue;
            }
            frames.pop();
            if lowest == number[state as usize] {
                while let Some(member) = open.pop() {
                    of[member as usize] = count;
                    if member == state {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    if watch.has_cut().is_some() {
        of.iter_mut().filter(|part| **part == UNSEEN).for_each(|part| *part = 0);
        count = count.max(1);
    }
    Components { of, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table(Vec<Vec<u32>>);

    impl Arrows for Table {
        fn size(&self) -> u32 {
            self.0.len() as u32
        }
        fn targets(&self, state: u32) -> &[u32] {
            &self.0[state as usize]
        }
    }

    #[test]
    fn components_are_what_mutual_reachability_says() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let states = 1 + random(9);
            let edges = random(2 * states + 1);
            let mut table = Table(vec![Vec::new(); states as usize]);
            for _ in 0..edges {
                let (from, to) = (random(states), random(states) as u32);
                table.0[from as usize].push(to);
            }
            let found = components(&table, &Watch::never());
            let reach = closure(&table);
            for (a, from_a) in reach.iter().enumerate() {
                for (b, from_b) in reach.iter().enumerate() {
                    let same = a == b || from_a[b] && from_b[a];
                    assert_eq!(found.of[a] == found.of[b], same, "{:?}: {a} {b}", table.0);
                    assert!(!from_a[b] || found.of[a] >= found.of[b], "{:?}", table.0);
                }
            }
            assert_eq!(found.of.iter().max().map(|last| last + 1), Some(found.count));
        }
    }

    fn closure(table: &Table) -> Vec<Vec<bool>> {
        let states = table.0.len();
        let mut reach = vec![vec![false; states]; states];
        for (from, targets) in table.0.iter().enumerate() {
            for to in targets {
                reach[from][*to as usize] = true;
            }
        }
        for middle in 0..states {
            for from in 0..states {
                for to in 0..states {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        reach
    }
}
