//! The axioms alone, on programs whose executions can be counted by hand: how many graphs RC11 allows,
//! RC11 with the release sequences of the paper, and sequential consistency.

use crate::axioms::{Axioms, executions};
use crate::program::Program;

fn graphs(text: &str) -> [u64; 3] {
    let program = Program::parse(text);
    [Axioms::Rc11, Axioms::Published, Axioms::Sc].map(|axioms| executions(&program, axioms).graphs)
}

#[test]
fn small_programs_have_as_many_executions_as_by_hand() {
    let rows = [
        ("message passing", "W x 1 rlx; W y 1 rlx | R y rlx; R x rlx", [4, 4, 3]),
        ("with release and acquire", "W x 1 rlx; W y 1 rel | R y acq; R x rlx", [3, 3, 3]),
        ("store buffering", "W x 1 rlx; R y rlx | W y 1 rlx; R x rlx", [4, 4, 3]),
        ("store buffering, SeqCst", "W x 1 sc; R y sc | W y 1 sc; R x sc", [3, 3, 3]),
        ("with fences", "W x 1 rlx; F sc; R y rlx | W y 1 rlx; F sc; R x rlx", [3, 3, 3]),
        ("load buffering", "R x rlx; W y 1 rlx | R y rlx; W x 1 rlx", [3, 3, 3]),
        ("2+2W", "W x 1 rlx; W y 2 rlx | W y 1 rlx; W x 2 rlx", [4, 4, 3]),
        ("coherence of reads", "W x 1 rlx; W x 2 rlx | R x rlx; R x rlx", [6, 6, 6]),
        ("two increments", "U x 1 rlx | U x 1 rlx", [2, 2, 2]),
        ("three increments", "U x 1 rlx | U x 1 rlx | U x 1 rlx", [6, 6, 6]),
        ("two exchanges", "C x 0 1 rlx rlx | C x 0 1 rlx rlx", [2, 2, 2]),
        // The other finds 1, or 0 and fails for nothing, or both fail for nothing.
        ("weak exchanges", "V x 0 1 rlx rlx | V x 0 1 rlx rlx", [5, 5, 5]),
        (
            "a store continues no release sequence",
            "W x 1 rlx; W y 1 rel; W y 2 rlx | R y acq; R x rlx",
            [5, 4, 4],
        ),
        ("an increment does", "W x 1 rlx; W y 1 rel | U y 1 rlx | R y acq; R x rlx", [9, 9, 9]),
        ("mutex", "L m; U x 1 rlx; M m | L m; U x 1 rlx; M m", [2, 2, 2]),
        ("mutex and stale reads", "L m; W x 1 rlx; M m | L m; R x rlx; M m", [2, 2, 2]),
        ("not for who does not lock", "L m; W x 1 rlx; M m | R x rlx", [2, 2, 2]),
    ];
    for (name, text, expected) in rows {
        assert_eq!(graphs(text), expected, "{name}: {text}");
    }
}
