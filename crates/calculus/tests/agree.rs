//! Small random programs on which brute force, dpor and the search over states (reduced or not, by
//! one and two threads) must agree, and whose outcomes must be explained. `STRAIT_SEED` changes the
//! programs; a disagreement shows its program.

#[path = "common/cross.rs"]
mod cross;
#[path = "common/rng.rs"]
mod rng;

use std::collections::BTreeMap;

use rng::Rng;

const PROGRAMS: u64 = 400;

/// Operations; `#` is a fresh number, so that messages can be told apart.
const OPERATIONS: [&str; 34] = [
    "put a #",
    "put b #",
    "put a #",
    "put b #",
    "x# = get a",
    "x# = get b",
    "x# = get a",
    "x# = get b",
    "x#, ok# = get a",
    "close a",
    "close b",
    "abandon a",
    "lock m",
    "unlock m",
    "lock m; unlock m",
    "lock r; unlock r",
    "rlock r; runlock r",
    "rlock r",
    "lock r",
    "add w 1",
    "done w",
    "wait w",
    "select { put a # {} x# = get b {} }",
    "select { put b # {} x# = get a {} }",
    "select { x# = get a {} x# = get b {} }",
    "select { x# = get a {} default {} }",
    "select { put b # {} default {} }",
    "select { x# = get a {} timeout {} }",
    "choose { put a # } or { x# = get b }",
    "spawn { put a # }",
    "spawn { x# = get b }",
    "x# = get over; put x# #",
    "put over a",
    "put over b",
];

fn program(rng: &mut Rng) -> String {
    let kinds = ["int", "int[1]", "int[2]", "int[unbounded]"];
    let over = ["chan int", "chan int[1]"];
    let (a, b, over) = (rng.pick(&kinds), rng.pick(&kinds), rng.pick(&over));
    let mut text = format!(
        "main {{\nchan a: {a}\nchan b: {b}\nchan over: {over}\nmutex m\nrwmutex r\nwaitgroup w\n"
    );
    let mut number = 0;
    for process in 0..2 + rng.below(2) {
        text += if process == 0 { "" } else { "spawn {\n" };
        let mut body = String::new();
        for _ in 0..1 + rng.below(3) {
            number += 1;
            body += &rng.pick(&OPERATIONS).replace('#', &number.to_string());
            body += "\n";
        }
        if process == 0 {
            // Main goes on after it has spawned the others.
            text = text.replace("waitgroup w\n", "waitgroup w\nHERE\n") + &body;
        } else {
            let spawned = format!("spawn {{\n{body}}}\nHERE");
            text = text.trim_end_matches("spawn {\n").replace("HERE", &spawned);
        }
    }
    text.replace("HERE\n", "") + "}\n"
}

#[test]
fn engines_agree_on_random_programs() {
    let seed = std::env::var("STRAIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut rng = Rng(seed);
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..PROGRAMS {
        let source = program(&mut rng);
        let agreed = cross::agreed(&source);
        let verdict = agreed.split(',').next().unwrap_or_default().to_string();
        assert!(agreed.contains(", exhaustive"), "{source}\n{agreed}");
        *verdicts.entry(verdict).or_default() += 1;
    }
    // Enough of each kind that a disagreement would have shown.
    for verdict in ["terminates", "leak", "deadlock", "panic"] {
        let count = verdicts.get(verdict).copied().unwrap_or(0);
        assert!(count >= 5, "only {count} programs with verdict {verdict}: {verdicts:?}");
    }
}
