//! Dining philosophers: all take the left fork first and may starve; with ordered forks they dine.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;

use strait::sync::Mutex;
use strait::thread;

/// So many philosophers dine once.
pub fn dine(philosophers: usize, ordered: bool) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..philosophers).map(|_| Mutex::new(())).collect());
    let sit = |seat: usize| {
        let forks = forks.clone();
        thread::spawn(move || {
            let (left, right) = (seat, (seat + 1) % philosophers);
            let swap = ordered && right < left;
            let (first, second) = if swap { (right, left) } else { (left, right) };
            let _first = forks[first].lock().expect("no panics");
            let _second = forks[second].lock().expect("no panics");
        })
    };
    let all: Vec<_> = (0..philosophers).map(sit).collect();
    all.into_iter().for_each(|philosopher| philosopher.join().expect("no panics"));
}

fn main() {
    println!("{}", strait::outcomes(|| dine(3, true)));
    println!("{}", strait::outcomes(|| dine(3, false)));
}

#[cfg(test)]
mod tests {
    use super::dine;

    #[test]
    fn ordered_philosophers_dine() {
        let outcomes = strait::check(|| dine(4, true));
        assert!(outcomes.is_exhaustive());
    }

    #[test]
    fn others_may_starve() {
        let outcomes = strait::outcomes(|| dine(4, false));
        assert!(outcomes.failures().iter().all(|failure| failure.is_deadlock()));
        assert_eq!(outcomes.found.len(), 2);
    }
}
