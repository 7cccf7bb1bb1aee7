//! Faults of the overlay itself. A run comes in; out comes what happened if the runtime crashed in a
//! hook, or if a goroutine is blocked inside one. Such a run says nothing about the program: it is an
//! internal error of Strait and never a finding.

use strait_golang::{Goroutine, Run, Site, State, Status};

use crate::crash::sections;

/// Functions of Go that only have another name in the overlay.
const RENAMED: [&str; 3] =
    ["runtime.straitSelectgo", "runtime.straitSelectnbsend", "runtime.straitSelectnbrecv"];
/// Hooks that wait or give way.
const WAITING: [&str; 2] = ["runtime.straitYield", "runtime.straitPrefer"];
/// Where the runtime waits for itself. A goroutine that stays there was not blocked by the program.
const WITHIN_RUNTIME: [&str; 5] = [
    "runtime.gcStart",
    "runtime.gcMarkDone",
    "runtime.gcBgMarkStartWorkers",
    "runtime.stopTheWorld",
    "runtime.stopTheWorldGC",
];
/// The program's own use of memory ends a run too, wherever it is noticed.
const OF_PROGRAM: [&str; 3] = ["stack overflow", "out of memory", "cannot allocate memory"];

/// What the overlay did wrong in this run, in one line.
pub fn overlay_fault(run: &Run) -> Option<String> {
    let crashed = crash_in_hook(&run.finished.stderr.text());
    crashed.or_else(|| deadlock_in_hook(run.trace.state, &run.trace.goroutines))
}

/// A goroutine that is blocked in a hook or in the runtime when a run was stopped. If the time was over
/// while goroutines were still running, one that waits in the runtime waits for a collection that goes on.
fn deadlock_in_hook(state: State, goroutines: &[Goroutine]) -> Option<String> {
    let running = || goroutines.iter().any(|one| one.status == Status::Active);
    let within: &[&str] = match state {
        State::Asleep | State::Hopeless => &WITHIN_RUNTIME,
        State::Overdue if !running() => &WITHIN_RUNTIME,
        State::Overdue => &[],
        _ => return None,
    };
    goroutines.iter().find_map(|goroutine| blocked_in_hook(goroutine, within))
}

fn is_hook(site: &Site) -> bool {
    site.function.starts_with("runtime.strait") && !RENAMED.contains(&site.function.as_str())
}

/// A fatal error on the scheduler's stack, or a fatal error or a signal whose stack goes through a hook. A panic is raised for the program, also
/// below a hook: the overlay's version of `select` calls the original.
fn crash_in_hook(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.lines().collect();
    let at = lines.iter().position(|line| is_fatal(line))?;
    let message = lines[at].strip_prefix("fatal error: ").unwrap_or(lines[at]).trim();
    if OF_PROGRAM.iter().any(|known| message.contains(known)) {
        return None;
    }
    let sections = sections(&lines[at + 1..]);
    // Code of the program does not run on the scheduler's stack.
    if lines[at].starts_with("fatal error: ") && sections.first()?.goroutine.is_none() {
        return Some(format!("the Go runtime crashed: {message}"));
    }
    let mut crashing = sections
        .into_iter()
        .scan(false, |seen, section| {
            // The stack of the scheduler comes first, then the goroutine that ran; the others follow.
            let first = !*seen;
            *seen |= section.goroutine.is_some_and(|number| number != 0);
            first.then_some(section)
        })
        .flat_map(|section| section.stack);
    let hook = crashing.find(is_hook)?;
    Some(format!("the Go runtime crashed in {}: {message}", hook.function))
}

/// Lines with which the runtime begins to report its own death.
fn is_fatal(line: &str) -> bool {
    let signal = line.starts_with("SIG") && line.contains(": ");
    line.starts_with("fatal error: ") || signal || line.starts_with("unexpected fault address ")
}

/// Is it blocked in a hook, or in one of these functions of the runtime?
fn blocked_in_hook(goroutine: &Goroutine, within: &[&str]) -> Option<String> {
    let blocked =
        matches!(goroutine.status, Status::Waiting | Status::Leaked) && goroutine.reason != "sleep";
    let frames = goroutine.frames.iter().take_while(|site| site.function.starts_with("runtime."));
    let mut inner = frames.filter(|site| {
        let function = site.function.as_str();
        let preferred = function == "runtime.straitPrefer" && goroutine.reason == "select";
        !preferred && (WAITING.contains(&function) || within.contains(&function))
    });
    let site = inner.next().filter(|_| blocked)?;
    let (number, reason) = (goroutine.id, &goroutine.reason);
    Some(format!("goroutine {number} is blocked in {} ({reason})", site.function))
}

/// Does this goroutine wait for its preferred case? It goes on when the window has passed.
pub fn waits_for_preference(goroutine: &Goroutine) -> bool {
    goroutine.frames.iter().any(|site| site.function == "runtime.straitPrefer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_in_hooks_are_told_from_crashes_of_programs() {
        let timer = "SIGSEGV: segmentation violation\nPC=0x48750a m=0 sigcode=1 addr=0x90\n\ngoroutine 0 gp=0x6de080 m=0 mp=0x6df0c0 [idle]:\nruntime.gopark(0x7ffd?)\n\t/go/src/runtime/proc.go:451 +0x2a fp=0x7 sp=0x7 pc=0x4\nruntime.straitPrefer({0x1?, 0x7?}, 0xef?)\n\t/go/src/runtime/strait_hooks.go:306 +0x1bc\ntime.sendTime({0x5?, 0x1}, 0x0?, 0x2)\n\t/go/src/time/sleep.go:187 +0x65\n";
        let scheduler = "fatal error: runtime: mcall called on m->g0 stack\n\nruntime stack:\nruntime.throw({0x1?, 0x2?})\n\t/go/src/runtime/panic.go:1 +0x1\nruntime.straitTry(0x1)\n\t/go/src/runtime/strait_hooks.go:3 +0x1\n\ngoroutine 1 [select]:\nm.TestA()\n\t/w/a_test.go:3 +0x1\n";
        let program = "fatal error: concurrent map writes\n\ngoroutine 9 [running]:\nm.g()\n\t/w/m/a.go:3 +0x1\n\ngoroutine 8 [sleep]:\nruntime.straitYield(0x1)\n\t/go/src/runtime/strait_hooks.go:3 +0x1\n";
        let select = "panic: send on closed channel\n\ngoroutine 7 [running]:\nruntime.straitSelect(0x1)\n\t/go/src/runtime/strait_hooks.go:3 +0x1\n";
        let endless = "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\nruntime stack:\nruntime.straitYield()\n\t/go/src/runtime/strait_hooks.go:3 +0x1\n";
        let leaked = "runtime:   gp: gp=0x17, goid=12, gp->atomicstatus=10\nfatal error: bad g->status in ready\n\nruntime stack:\nruntime.throw({0x69dd7f?, 0x0?})\n\t/go/src/runtime/panic.go:1229 +0x48\nruntime.ready(0x17)\n\t/go/src/runtime/proc.go:1127 +0x26a\n\ngoroutine 1 gp=0x17 m=nil [chan receive]:\nm.TestA()\n\t/w/a_test.go:3 +0x1\n";
        for (output, expected) in [
            (leaked, Some("the Go runtime crashed: bad g->status in ready")),
            (
                timer,
                Some(
                    "the Go runtime crashed in runtime.straitPrefer: SIGSEGV: segmentation violation",
                ),
            ),
            (scheduler, Some("the Go runtime crashed: runtime: mcall called on m->g0 stack")),
            (program, None),
            (select, None),
            (endless, None),
            ("PASS\n", None),
        ] {
            assert_eq!(crash_in_hook(output).as_deref(), expected, "{output}");
        }
    }

    fn goroutine(id: u32, status: Status, reason: &str, frames: &[&str]) -> Goroutine {
        let site = |function: &&str| Site {
            file: "a.go".to_owned(),
            line: 1,
            function: (*function).to_owned(),
        };
        Goroutine {
            id,
            parent: 1,
            status,
            reason: reason.to_owned(),
            created: None,
            kept_by_timers: false,
            leaked_at_failure: false,
            test: String::new(),
            object: None,
            channels: Vec::new(),
            frames: frames.iter().map(site).collect(),
        }
    }

    #[test]
    fn goroutines_that_are_blocked_in_hooks() {
        let collecting = ["runtime.semacquire1", "runtime.gcStart", "runtime.straitYield", "m.f"];
        let preferring = ["runtime.gopark", "runtime.straitPrefer", "m.f"];
        let napping = ["runtime.timeSleep", "runtime.straitYield", "m.f"];
        let sending = ["runtime.chansend", "runtime.chansend1", "m.f"];
        for (frames, reason, expected) in [
            (
                &collecting[..],
                "semacquire",
                Some("goroutine 7 is blocked in runtime.gcStart (semacquire)"),
            ),
            (&preferring, "select", None),
            (&napping, "sleep", None),
            (&sending, "chan send", None),
        ] {
            let blocked = goroutine(7, Status::Waiting, reason, frames);
            let said = blocked_in_hook(&blocked, &WITHIN_RUNTIME);
            assert_eq!(said.as_deref(), expected, "{reason}");
        }
    }

    #[test]
    fn a_slow_test_that_waits_for_a_collection_is_not_blocked() {
        let marking = ["runtime.semacquire", "runtime.gcMarkDone", "runtime.mallocgc", "m.f"];
        let marking = goroutine(7, Status::Waiting, "semacquire", &marking);
        let yielding = ["runtime.semacquire", "runtime.gcMarkDone", "runtime.straitYield", "m.f"];
        let yielding = goroutine(7, Status::Waiting, "semacquire", &yielding);
        let running = goroutine(8, Status::Active, "", &["m.g"]);
        let within = Some("goroutine 7 is blocked in runtime.gcMarkDone (semacquire)");
        let hook = Some("goroutine 7 is blocked in runtime.straitYield (semacquire)");
        for (state, goroutines, expected) in [
            (State::Overdue, vec![marking.clone(), running.clone()], None),
            (State::Overdue, vec![marking.clone()], within),
            (State::Overdue, vec![yielding, running.clone()], hook),
            (State::Asleep, vec![marking.clone()], within),
            (State::Hopeless, vec![marking.clone()], within),
            (State::Judged, vec![marking], None),
        ] {
            let said = deadlock_in_hook(state, &goroutines);
            assert_eq!(said.as_deref(), expected, "{state:?} {goroutines:?}");
        }
    }
}
