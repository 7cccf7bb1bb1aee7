//! What a run has shown: how it ended, what is left of it and what it printed go in, suspicions come
//! out. A suspicion that is certain needs no second run; the others do.

use strait_findings::Kind;
use strait_golang::{Failure, Goroutine, Object, Run, Site, State, Status, Trace};

use strait_toolchain::End;

use crate::blocked::{Reference, components, is_blocked, unblockable};
use crate::crash::{Crash, crashes};
use crate::overlay_fault::{overlay_fault, waits_for_preference};
use crate::selects::Selects;
use crate::story;

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Only heavy disturbance shows it: the test depends on time.
    Sensitive,
    /// Idle by design, perhaps: reachable from a global.
    Suspect,
    /// It has to happen again to count.
    Likely,
    /// Proved by the collector or by the runtime.
    Certain,
}

/// Something a run has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// What kind.
    pub kind: Kind,
    /// How sure.
    pub certainty: Certainty,
    /// Where, as `file:line`, sorted.
    pub locations: Vec<String>,
    /// One line for people.
    pub title: String,
    /// The facts, a line each.
    pub facts: Vec<String>,
}

impl Suspicion {
    /// It came after a test had failed, so it may be a consequence of that failure.
    fn depends_on_failure(&mut self) {
        self.certainty = Certainty::Sensitive;
        self.title = format!("after the test had failed, {}", self.title);
    }

    /// It was seen only where a select took a timeout although another case could go on. It is possible
    /// if the other side is slow, but no run has shown that.
    pub(crate) fn needs_timeout(&mut self, trace: &Trace, selects: &Selects) {
        self.certainty = self.certainty.min(Certainty::Likely);
        let place = trace.overtook.as_ref().map(|site| selects.show(site));
        self.facts.push(format!(
            "this needs a timeout: the select at {} took one although another case could go on",
            place.as_deref().unwrap_or("?")
        ));
    }
}

/// Looks at a run. A run in which the overlay failed shows nothing.
pub fn judge(run: &Run, selects: &Selects) -> Vec<Suspicion> {
    if overlay_fault(run).is_some() {
        return Vec::new();
    }
    let output = format!("{}\n{}", run.finished.stderr.text(), run.finished.stdout.text());
    // Tests may print anything; a panic that counts ends the process while tests run.
    let died = run.finished.end == End::Exited(2)
        && matches!(run.trace.state, State::Begun | State::Finished);
    let crashes = crashes(&output);
    let crashes = crashes.iter().filter(|crash| crash.race || died);
    let mut found: Vec<Suspicion> = crashes.filter_map(|crash| of_crash(crash, selects)).collect();
    if run.trace.failure == Some(Failure::Asserted) {
        let panics = found.iter_mut().filter(|one| one.kind == panic_kind());
        panics.for_each(Suspicion::depends_on_failure);
    }
    let crashed = found.iter().any(|suspicion| suspicion.kind == panic_kind());
    found.extend(of_goroutines(&run.trace, selects));
    let blocked = found.iter().any(|suspicion| suspicion.kind == Kind::BLOCKING);
    if run.trace.state == State::Overdue && !blocked {
        let mut suspicion = overdue(&run.trace, selects);
        if run.trace.failure.is_some() {
            suspicion.depends_on_failure();
        }
        found.push(suspicion);
    }
    let failed = run.trace.state == State::Judged && !run.passed();
    let asserted = run.trace.failure == Some(Failure::Asserted)
        && found.iter().all(|suspicion| suspicion.certainty == Certainty::Sensitive);
    if asserted || found.is_empty() && !crashed && failed {
        // It came first, and is told first.
        found.splice(0..0, assertion(&output));
    }
    found
}

/// The kind of panics and fatal errors.
pub(crate) fn panic_kind() -> Kind {
    Kind::PANIC
}

fn of_crash(crash: &Crash, selects: &Selects) -> Option<Suspicion> {
    // The goroutines themselves tell it better.
    if crash.message.contains("all goroutines are asleep")
        || crash.message.contains("test timed out")
    {
        return None;
    }
    let places: Vec<_> = crash.stacks.iter().filter_map(|stack| selects.own(stack)).collect();
    let mut locations: Vec<String> = places.iter().map(|site| selects.show(site)).collect();
    locations.sort();
    locations.dedup();
    let place =
        places.first().map_or_else(String::new, |site| format!(" at {}", selects.show(site)));
    let facts = crash.stacks.iter().enumerate().flat_map(|(number, stack)| {
        let heading = match (crash.race, number) {
            (false, _) => "panicked in",
            (true, 0) => "one goroutine in",
            (true, _) => "another in",
        };
        let frames = stack.iter().filter(|site| !selects.is_standard(site)).take(8);
        let frames = frames
            .map(|site| format!("  {} at {}", story::short(&site.function), selects.show(site)));
        std::iter::once(heading.to_owned()).chain(frames).collect::<Vec<_>>()
    });
    Some(Suspicion {
        kind: if crash.race { Kind::DATA_RACE } else { panic_kind() },
        certainty: if crash.by_runtime { Certainty::Certain } else { Certainty::Likely },
        title: format!("{}{place}", crash.message),
        facts: facts.collect(),
        locations,
    })
}

/// Blocked goroutines, those that belong together as one.
fn of_goroutines(trace: &Trace, selects: &Selects) -> Vec<Suspicion> {
    if matches!(trace.state, State::Untouched | State::Begun | State::Exited) {
        return Vec::new();
    }
    let references = Reference::of(trace);
    let mut all: Vec<(&Goroutine, Certainty)> = Vec::new();
    for goroutine in &trace.goroutines {
        // The test framework waits for its tests, and `main` for the framework.
        let framework = goroutine.id == 1 || selects.place(goroutine).is_none();
        if framework || waits_on_purpose(goroutine) || !is_blocked(goroutine) {
            continue;
        }
        if let Some(certainty) = certainty(trace, goroutine, &references) {
            all.push((goroutine, certainty));
        }
    }
    let mut found = Vec::new();
    for level in [Certainty::Certain, Certainty::Likely, Certainty::Suspect] {
        let these: Vec<&Goroutine> =
            all.iter().filter(|(_, certainty)| *certainty == level).map(|(one, _)| *one).collect();
        let groups = components(trace, &these);
        found.extend(groups.iter().map(|group| {
            let mut suspicion = of_group(trace, selects, group, level);
            if group.iter().all(|goroutine| may_follow_from_failure(trace, goroutine)) {
                suspicion.depends_on_failure();
            }
            suspicion
        }));
    }
    found
}

/// A failed test ends early, and what waits for it then is blocked. Only what was blocked forever before
/// the failure is a fault of its own, unless the test failed because a timeout was preferred to a
/// case that could go on.
fn may_follow_from_failure(trace: &Trace, goroutine: &Goroutine) -> bool {
    trace.failure.is_some() && (!goroutine.leaked_at_failure || trace.overtaken > 0)
}

/// How sure it is that a blocked goroutine stays so; `None` if it is not even likely.
fn certainty(trace: &Trace, goroutine: &Goroutine, references: &Reference) -> Option<Certainty> {
    let outside =
        trace.goroutines.iter().any(|one| one.status == Status::Syscall || one.reason == "IO wait");
    let at_lock =
        matches!(goroutine.object, Some((Object::Mutex | Object::Writer | Object::Reader, _)))
            && goroutine.channels.is_empty();
    let at_group = matches!(goroutine.object, Some((Object::WaitGroup, _)));
    match trace.state {
        _ if goroutine.status == Status::Leaked => Some(Certainty::Certain),
        // Nobody moves and nothing from outside can come.
        State::Asleep | State::Hopeless if !outside && !anybody_moves(trace) => {
            Some(Certainty::Certain)
        }
        // Rule R1.
        State::Judged if trace.stuck && at_lock => Some(Certainty::Certain),
        State::Judged if trace.quiet && at_group => Some(Certainty::Likely),
        // It is not known which goroutine may call `Done`, or send for the first time: every goroutine
        // that can move might. Then the test is slow, and not blocked.
        State::Overdue if runs_test(goroutine) && (outside || can_move_later(trace)) => None,
        State::Overdue if runs_test(goroutine) => {
            unblockable(trace, goroutine, references).map(|_| Certainty::Likely)
        }
        // Without the collector's judgement Algorithm 1 is all there is; what the package started
        // before its tests is idle by design.
        State::Judged if !trace.can_judge && goroutine.parent != 1 => {
            unblockable(trace, goroutine, references).map(|_| Certainty::Likely)
        }
        State::Judged | State::Overdue => {
            unblockable(trace, goroutine, references).map(|_| Certainty::Suspect)
        }
        _ => None,
    }
}

/// `select {}` says that a goroutine waits forever, and `t.Parallel` waits for other tests.
fn waits_on_purpose(goroutine: &Goroutine) -> bool {
    let parallel = |site: &Site| site.function == "testing.(*T).Parallel";
    goroutine.reason == "select (no cases)" || goroutine.frames.iter().any(parallel)
}

/// Something moves, or will when a timer fires or a preferred case has been waited for.
fn can_move_later(trace: &Trace) -> bool {
    let waits_for_timer = |goroutine: &Goroutine| {
        waits_for_preference(goroutine) || goroutine.channels.iter().any(|channel| channel.timer)
    };
    anybody_moves(trace) || trace.timers || trace.goroutines.iter().any(waits_for_timer)
}

fn anybody_moves(trace: &Trace) -> bool {
    trace
        .goroutines
        .iter()
        .any(|goroutine| goroutine.status == Status::Active || goroutine.reason == "sleep")
}

fn runs_test(goroutine: &Goroutine) -> bool {
    goroutine.frames.iter().any(|site| site.function == "testing.tRunner")
}

fn of_group(
    trace: &Trace,
    selects: &Selects,
    group: &[&Goroutine],
    certainty: Certainty,
) -> Suspicion {
    let place = |goroutine: &Goroutine| {
        selects.place(goroutine).map_or_else(|| "?".to_owned(), |site| selects.show(site))
    };
    let mut locations: Vec<String> = group.iter().map(|goroutine| place(goroutine)).collect();
    locations.sort();
    locations.dedup();
    // Who waits for the others to be done is a victim; the cause is with the others.
    let is_victim =
        |goroutine: &&&Goroutine| matches!(goroutine.object, Some((Object::WaitGroup, _)));
    let first = group.iter().find(|one| !is_victim(one)).unwrap_or(&group[0]);
    let more = match group.len() - 1 {
        0 => String::new(),
        1 => ", and one more with it".to_owned(),
        others => format!(", and {others} more with it"),
    };
    let title = format!(
        "a goroutine is blocked for ever {} at {}{more}",
        story::waiting_for(first),
        place(first)
    );
    let mut shown: Vec<&Goroutine> = Vec::new();
    for goroutine in group {
        // Ten workers at the same line are one fact.
        if !shown.iter().any(|other| place(other) == place(goroutine)) {
            shown.push(goroutine);
        }
    }
    let facts = shown.iter().flat_map(|goroutine| {
        let same = group.iter().filter(|other| place(other) == place(goroutine)).count();
        let mut lines = story::goroutine(trace, selects, goroutine);
        match same {
            1 => {}
            2 => lines.push("  another goroutine is at the same place".to_owned()),
            _ => lines.push(format!("  {} more goroutines are at the same place", same - 1)),
        }
        lines
    });
    Suspicion { kind: Kind::BLOCKING, certainty, locations, title, facts: facts.collect() }
}

fn overdue(trace: &Trace, selects: &Selects) -> Suspicion {
    let tests = trace.goroutines.iter().filter(|goroutine| runs_test(goroutine));
    let places: Vec<&Goroutine> = tests.collect();
    let mut locations: Vec<String> = places
        .iter()
        .filter_map(|goroutine| selects.own(&goroutine.frames))
        .map(|site| selects.show(site))
        .collect();
    locations.sort();
    locations.dedup();
    let place = locations.first().map_or_else(String::new, |place| format!(" at {place}"));
    Suspicion {
        kind: Kind::TIMEOUT,
        certainty: Certainty::Likely,
        title: format!("the test does not end{place}"),
        facts: places.iter().flat_map(|one| story::goroutine(trace, selects, one)).collect(),
        locations,
    }
}

/// A test that failed by itself.
fn assertion(output: &str) -> Option<Suspicion> {
    let lines: Vec<&str> = output.lines().collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with("--- FAIL"))?;
    let said = lines[at + 1..].iter().map(|line| line.trim()).find(|line| line.contains(".go:"));
    let location = said.and_then(|said| {
        let mut parts = said.splitn(3, ':');
        Some(format!("{}:{}", parts.next()?, parts.next()?))
    });
    Some(Suspicion {
        kind: Kind::ASSERTION,
        certainty: Certainty::Sensitive,
        locations: location.into_iter().collect(),
        title: said.unwrap_or("the test fails").to_owned(),
        facts: Vec::new(),
    })
}
