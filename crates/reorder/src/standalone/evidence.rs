//! Does the output of a test show the fault of a finding, and not another failure? In: the class of the finding,
//! its places as they stand in stacks, and the output. The wording is that of the Go runtime and of our own test.

use super::text::MARK;
use crate::class::FindingClass;

/// What `testing/synctest` and the runtime say of goroutines that wait forever.
const BLOCKED: [&str; 4] = [
    MARK,
    "deadlock: all goroutines in bubble are blocked",
    "deadlock: main bubble goroutine has exited but blocked goroutines remain",
    "fatal error: all goroutines are asleep - deadlock!",
];

/// Does it show this fault at one of these places, `/path/file.go:12`?
pub(crate) fn shows(class: FindingClass, places: &[String], output: &str) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let is_there = places.iter().any(|place| {
        // A longer number is another line.
        output.match_indices(place.as_str()).any(|(start, found)| {
            let after = output[start + found.len()..].chars().next();
            after.is_none_or(|letter| !letter.is_ascii_digit())
        })
    });
    match class {
        FindingClass::Deadlock
        | FindingClass::LeakInEveryRun
        | FindingClass::LeakInRareOrders
        | FindingClass::EndlessTest => says(&BLOCKED) && is_there,
        FindingClass::Panic => says(&["panic: ", "fatal error: "]) && !says(&BLOCKED) && is_there,
        FindingClass::DataRace => says(&["WARNING: DATA RACE"]) && is_there,
        FindingClass::LeftRunning | FindingClass::DependsOnTime | FindingClass::Intentional => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_failure_is_no_evidence() {
        use FindingClass::*;
        let stack = |head: &str, line: u32| format!("{head}\n\nmain.f()\n\t/m/a.go:{line} +0x1d\n");
        let places = ["/m/a.go:16".to_owned()];
        for (class, output, expected) in [
            (Deadlock, stack(MARK, 16), true),
            (Deadlock, stack(MARK, 161), false),
            (Deadlock, stack("panic: test timed out", 16), false),
            (LeakInRareOrders, stack(BLOCKED[2], 16), true),
            (Panic, stack("panic: close of closed channel", 16), true),
            (Panic, stack("panic: close of closed channel", 17), false),
            (Panic, stack("    a_test.go:16: no entries", 16), false),
            (Panic, stack(&format!("panic: {}", BLOCKED[1]), 16), false),
            (DataRace, stack("WARNING: DATA RACE", 16), true),
            (LeftRunning, stack(MARK, 16), false),
        ] {
            assert_eq!(shows(class, &places, &output), expected, "{class:?}: {output}");
        }
    }
}
