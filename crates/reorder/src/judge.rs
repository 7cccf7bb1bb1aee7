//! What a run has shown: how it ended, what is left of it and what it printed go in, suspicions come
//! out. A suspicion that is certain needs no second run; the others do.

use serde::{Deserialize, Serialize};
use strait_findings::Kind;
use strait_golang::{Direction, Failure, Goroutine, Object, Run, Site, State, Status, Trace};
use strait_toolchain::End;

use crate::blocked::{Reference, components, is_blocked, unblockable};
use crate::causes::{causes, is_test_file, waits_for_use};
use crate::class::FindingClass;
use crate::crash::{Crash, CrashStack, StackRole, crashes};
use crate::overlay_fault::{overlay_fault, waits_for_preference};
use crate::selects::{Selects, package};
use crate::story;
use crate::waits::cycle;

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

/// Which goroutines wait on purpose, and what else counts as wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// No goroutine of a test may be left at its end.
    pub lifecycle: bool,
    /// Functions and packages whose goroutines may be left.
    pub allowed: Vec<String>,
}

impl Rules {
    /// Is a function on the list, or its package, or the function that it is a part of?
    fn allows(&self, function: &str) -> bool {
        self.allowed.iter().any(|allowed| {
            let within = |name: &str| {
                let rest = name.strip_prefix(allowed.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".func"))
            };
            package(function) == allowed || within(function) || within(story::short(function))
        })
    }
}

/// Something a run has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// What kind.
    pub kind: Kind,
    /// What to do about it. Leaks are rare until undisturbed runs show them.
    pub class: FindingClass,
    /// How sure.
    pub certainty: Certainty,
    /// Where, as `file:line`, sorted.
    pub locations: Vec<String>,
    /// What it is known by: two suspicions with one of these in common have one cause.
    pub causes: Vec<String>,
    /// The package of the place to blame.
    pub package: Option<String>,
    /// Is that place outside of test files?
    pub library: bool,
    /// Does a goroutine wait to send?
    pub sending: bool,
    /// Do goroutines of a library wait for their next message?
    pub idle: bool,
    /// Was it asked for that nothing is left, and is something left?
    pub lifecycle: bool,
    /// Was a timeout preferred to a case that could go on, and is it seen only then?
    pub needs_timeout: bool,
    /// Did the goroutine of the test itself panic, for a reason that has nothing to do with goroutines?
    pub fails_test: bool,
    /// One line for people.
    pub title: String,
    /// The facts, a line each.
    pub facts: Vec<String>,
}

impl Suspicion {
    /// Without a place and without facts.
    pub fn new(kind: Kind, class: FindingClass, certainty: Certainty, title: String) -> Self {
        Suspicion {
            kind,
            class,
            certainty,
            locations: Vec::new(),
            causes: Vec::new(),
            package: None,
            library: false,
            sending: false,
            idle: false,
            lifecycle: false,
            needs_timeout: false,
            fails_test: false,
            title,
            facts: Vec::new(),
        }
    }

    /// Sets where it is. The place to blame is the first one.
    fn at(mut self, selects: &Selects, places: &[&Site]) -> Self {
        self.locations = places.iter().map(|site| selects.show(site)).collect();
        self.locations.sort();
        self.locations.dedup();
        self.causes.clone_from(&self.locations);
        if let Some(blamed) = places.first() {
            let package = package(&blamed.function);
            self.package = Some(package.strip_suffix("_test").unwrap_or(package).to_owned());
            self.library = !is_test_file(blamed);
        }
        self
    }

    /// Is it the same fault: of the same kind, and of one cause?
    pub(crate) fn is_same(&self, other: &Suspicion) -> bool {
        self.kind == other.kind
            && (self.causes.iter().any(|cause| other.causes.contains(cause))
                || self.causes.is_empty() && other.causes.is_empty())
    }

    /// Another run has shown the same fault, and what is known about the fault holds for this one.
    pub(crate) fn take_assessment(&mut self, other: &Suspicion) {
        self.class = other.class;
        self.certainty = self.certainty.max(other.certainty);
        self.causes.clone_from(&other.causes);
    }

    /// It came after a test had failed, so it may be a consequence of that failure.
    fn depends_on_failure(&mut self) {
        self.certainty = Certainty::Sensitive;
        self.title = format!("after the test had failed, {}", self.title);
    }

    /// It was seen only where a select took a timeout although another case could go on. It is possible
    /// if the other side is slow, but no run has shown that.
    pub(crate) fn needs_timeout(&mut self, trace: &Trace, selects: &Selects) {
        self.needs_timeout = true;
        self.certainty = self.certainty.min(Certainty::Likely);
        let place = trace.overtook.as_ref().map(|site| selects.show(site));
        self.facts.push(format!(
            "this needs a timeout: the select at {} took one although another case could go on",
            place.as_deref().unwrap_or("?")
        ));
    }
}

/// Looks at a run. A run in which the overlay failed shows nothing.
pub fn judge(run: &Run, selects: &Selects, rules: &Rules) -> Vec<Suspicion> {
    if overlay_fault(run).is_some() {
        return Vec::new();
    }
    let output = format!("{}\n{}", run.finished.stderr.text(), run.finished.stdout.text());
    // Tests may print anything; a panic that counts ends the process while tests run.
    let died = run.finished.end == End::Exited(2)
        && matches!(run.trace.state, State::Begun | State::Finished);
    let crashes = crashes(&output);
    let crashes = crashes.iter().filter(|crash| crash.race || died);
    let mut found: Vec<Suspicion> =
        crashes.filter_map(|crash| of_crash(crash, &run.trace, selects)).collect();
    if run.trace.failure == Some(Failure::Asserted) {
        let panics = found.iter_mut().filter(|one| one.kind == panic_kind());
        panics.for_each(Suspicion::depends_on_failure);
    }
    let crashed = found.iter().any(|suspicion| suspicion.kind == panic_kind());
    found.extend(of_goroutines(&run.trace, selects, rules));
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

fn of_crash(crash: &Crash, trace: &Trace, selects: &Selects) -> Option<Suspicion> {
    // The goroutines themselves tell it better.
    if crash.message.contains("all goroutines are asleep")
        || crash.message.contains("test timed out")
    {
        return None;
    }
    let places: Vec<&Site> =
        crash.stacks.iter().filter_map(|stack| selects.own(&stack.frames)).collect();
    let place =
        places.first().map_or_else(String::new, |site| format!(" at {}", selects.show(site)));
    let (kind, class) = match crash.race {
        true => (Kind::DATA_RACE, FindingClass::DataRace),
        false => (panic_kind(), FindingClass::Panic),
    };
    let certainty = if crash.by_runtime { Certainty::Certain } else { Certainty::Likely };
    let title = format!("{}{place}", crash.message);
    let mut suspicion = Suspicion::new(kind, class, certainty, title).at(selects, &places);
    suspicion.facts = crash.stacks.iter().flat_map(|stack| of_stack(stack, selects)).collect();
    suspicion.fails_test = crash.is_sequential() && crash.is_of_test();
    let closed = trace.closed.as_ref().filter(|_| crash.message.contains("closed channel"));
    if let Some(closed) = closed {
        let made = closed.made.as_ref().map(|site| selects.show(site));
        let of = made.as_ref().map_or_else(String::new, |made| format!(", made at {made},"));
        suspicion.facts.push(format!(
            "the channel{of} had been closed at {} by goroutine {}",
            selects.show(&closed.closed),
            closed.goroutine
        ));
        // Wherever it is closed again, or sent to.
        if let Some(made) = made {
            suspicion.causes = vec![format!("{} made at {made}", crash.message)];
        }
    }
    Some(suspicion)
}

/// A stack of a crash, user frames first.
fn of_stack(stack: &CrashStack, selects: &Selects) -> Vec<String> {
    const SHOWN: usize = 8;
    let who = match stack.goroutine {
        Some(number) => format!("goroutine {number}"),
        None => "a goroutine".to_owned(),
    };
    let what = match stack.role {
        StackRole::Panic => "panicked",
        StackRole::Read => "reads",
        StackRole::Write => "writes",
    };
    let mut lines = vec![format!("{who} {what} in")];
    let own = |site: &&Site| !selects.is_standard(site);
    let frames = stack.frames.iter().filter(own).take(SHOWN);
    lines.extend(
        frames.map(|site| format!("  {} at {}", story::short(&site.function), selects.show(site))),
    );
    if let Some(site) = stack.created.iter().find(own) {
        let function = story::short(&site.function);
        lines.push(format!("  it was started at {} in {function}", selects.show(site)));
    }
    lines
}

/// Blocked goroutines, those that belong together as one.
fn of_goroutines(trace: &Trace, selects: &Selects, rules: &Rules) -> Vec<Suspicion> {
    if matches!(trace.state, State::Untouched | State::Begun | State::Exited) {
        return Vec::new();
    }
    let references = Reference::of(trace);
    let mut blocked: Vec<(&Goroutine, Certainty)> = Vec::new();
    let mut left: Vec<&Goroutine> = Vec::new();
    for goroutine in &trace.goroutines {
        if goroutine.id == 1 || waits_on_purpose(goroutine, rules) {
            continue;
        }
        // The test framework waits for its tests, and `main` for the framework.
        let mine = selects.place(goroutine).is_some();
        let certainty = match mine && is_blocked(goroutine) {
            true => certainty(trace, goroutine, &references),
            false => None,
        };
        // What its own timers wake can go on, and is left running.
        let leaks = certainty > Some(Certainty::Suspect) && !goroutine.kept_by_timers;
        match certainty {
            Some(certainty) if leaks || !rules.lifecycle => blocked.push((goroutine, certainty)),
            _ => left.push(goroutine),
        }
    }
    let is_suspect = |(_, certainty): &&(&Goroutine, Certainty)| *certainty == Certainty::Suspect;
    let (suspects, blocked): (Vec<_>, Vec<_>) = blocked.iter().partition(is_suspect);
    let mut found = Vec::new();
    for these in [blocked, suspects] {
        let goroutines: Vec<&Goroutine> = these.iter().map(|(one, _)| *one).collect();
        for group in components(trace, &goroutines) {
            let members = these.iter().filter(|(one, _)| group.iter().any(|two| two.id == one.id));
            let certainty = members.map(|(_, certainty)| *certainty).max();
            let certainty = certainty.unwrap_or(Certainty::Suspect);
            let mut suspicion = of_group(trace, selects, &group, certainty);
            if may_follow_from_failure(trace, &group) {
                suspicion.depends_on_failure();
            }
            found.push(suspicion);
        }
    }
    if rules.lifecycle && trace.state == State::Judged && trace.failure.is_none() {
        found.extend(left_running(trace, selects, &left));
    }
    found
}

/// Goroutines that tests have started and that are left, those that belong together as one.
fn left_running(trace: &Trace, selects: &Selects, left: &[&Goroutine]) -> Vec<Suspicion> {
    let by_timer = |goroutine: &Goroutine| {
        goroutine.created.as_ref().is_some_and(|site| site.function == "time.goFunc")
    };
    let of_tests: Vec<&Goroutine> = left
        .iter()
        .copied()
        .filter(|one| !one.test.is_empty() || by_timer(one))
        .filter(|one| selects.place(one).or_else(|| selects.own(&one.frames)).is_some())
        .collect();
    let groups = components(trace, &of_tests);
    let suspicion = |group: Vec<&Goroutine>| {
        let place = |one: &Goroutine| {
            let site = selects.place(one).or_else(|| selects.own(&one.frames));
            site.map_or_else(|| "?".to_owned(), |site| selects.show(site))
        };
        let places: Vec<&Site> = group
            .iter()
            .filter_map(|one| selects.place(one).or_else(|| selects.own(&one.frames)))
            .collect();
        let (first, more) = (group[0], others(group.len() - 1));
        let test = match first.test.as_str() {
            "" => String::new(),
            test => format!(" of {test}"),
        };
        let doing = story::doing(first);
        let title =
            format!("a goroutine{test} is left at the end, {doing} at {}{more}", place(first));
        let class = FindingClass::LeftRunning;
        let mut suspicion =
            Suspicion::new(Kind::BLOCKING, class, Certainty::Likely, title).at(selects, &places);
        suspicion.lifecycle = true;
        let facts = group.iter().take(SHOWN_GOROUTINES);
        suspicion.facts = facts.flat_map(|one| story::goroutine(trace, selects, one)).collect();
        suspicion
    };
    groups.into_iter().map(suspicion).collect()
}

/// How many goroutines a story is told of.
const SHOWN_GOROUTINES: usize = 6;

/// A failed test ends early, and what waits for it then is blocked. Only what was blocked forever before
/// the failure is a fault of its own. Even that may be a consequence: if a timeout was preferred to a case
/// that could go on, or if a goroutine came just too late to a channel at which the failed test waited.
fn may_follow_from_failure(trace: &Trace, group: &[&Goroutine]) -> bool {
    let was_given_up = |goroutine: &&Goroutine| {
        let passed = goroutine.channels.iter().filter_map(|channel| channel.passed.as_ref());
        passed.into_iter().any(|(_, passer)| *passer == trace.failer)
    };
    trace.failure.is_some()
        && (trace.overtaken > 0
            || group.iter().all(|goroutine| !goroutine.leaked_at_failure)
            || group.iter().any(was_given_up))
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
        // No goroutine can go on and nothing from outside can come.
        State::Asleep | State::Hopeless if !outside && !a_goroutine_moves(trace) => {
            Some(Certainty::Certain)
        }
        // Rule R1.
        State::Judged if trace.stuck && at_lock => Some(Certainty::Certain),
        State::Judged if trace.quiet && at_group => Some(Certainty::Likely),
        // It is not known which goroutine may call `Done`, or send for the first time: every goroutine
        // that can move might. Then the test is slow, and not blocked.
        State::Overdue if story::runs_test(goroutine) && (outside || can_move_later(trace)) => None,
        State::Overdue if story::runs_test(goroutine) => {
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

/// `select {}` says that a goroutine waits forever, `t.Parallel` waits for other tests, and the user may
/// allow others.
fn waits_on_purpose(goroutine: &Goroutine, rules: &Rules) -> bool {
    let sites = || goroutine.frames.iter().chain(&goroutine.created);
    goroutine.reason == "select (no cases)"
        || sites().any(|site| site.function == "testing.(*T).Parallel")
        || sites().any(|site| rules.allows(&site.function))
}

/// Something moves, or will when a timer fires or a preferred case has been waited for.
fn can_move_later(trace: &Trace) -> bool {
    let waits_for_timer = |goroutine: &Goroutine| {
        waits_for_preference(goroutine) || goroutine.channels.iter().any(|channel| channel.timer)
    };
    a_goroutine_moves(trace) || trace.timers || trace.goroutines.iter().any(waits_for_timer)
}

fn a_goroutine_moves(trace: &Trace) -> bool {
    trace
        .goroutines
        .iter()
        .any(|goroutine| goroutine.status == Status::Active || goroutine.reason == "sleep")
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
    // Who waits for the others to be done is a victim; the cause is with the others. Library code comes
    // before tests.
    let mut ordered = group.to_vec();
    ordered.sort_by_key(|goroutine| {
        let victim = matches!(goroutine.object, Some((Object::WaitGroup, _)));
        (victim, selects.place(goroutine).is_none_or(is_test_file), goroutine.id)
    });
    let places: Vec<&Site> = ordered.iter().filter_map(|one| selects.place(one)).collect();
    let cycle = ordered.iter().find_map(|goroutine| cycle(trace, goroutine));
    let first = cycle.as_ref().and_then(|cycle| cycle.first()).unwrap_or(&ordered[0]);
    let unfinished = trace.state != State::Judged && group.iter().any(|one| story::runs_test(one));
    let class = if cycle.is_some() || unfinished {
        FindingClass::Deadlock
    } else if group.iter().all(|one| one.kept_by_timers) {
        FindingClass::LeftRunning
    } else {
        FindingClass::LeakInRareOrders
    };
    let how = match class {
        FindingClass::LeftRunning => "is left running forever",
        _ => "is blocked forever",
    };
    let (doing, place_of_first, more) =
        (story::doing(first), place(first), others(group.len() - 1));
    let title = format!("a goroutine {how} {doing} at {place_of_first}{more}");
    let mut suspicion =
        Suspicion::new(Kind::BLOCKING, class, certainty, title).at(selects, &places);
    suspicion.sending = ordered.iter().any(|one| is_sending(one));
    suspicion.idle = waits_for_use(group);
    suspicion.causes.extend(causes(trace, selects, group));
    suspicion.causes.sort();
    suspicion.causes.dedup();
    suspicion.facts.extend(cycle.as_ref().map(|cycle| tell_cycle(cycle)));
    let in_cycle =
        |goroutine: &Goroutine| cycle.iter().flatten().any(|member| member.id == goroutine.id);
    let mut shown: Vec<&Goroutine> = Vec::new();
    for goroutine in cycle.iter().flatten().chain(&ordered).copied() {
        // Ten workers at the same line are one fact, unless they wait for each other.
        let told = shown.iter().any(|other| {
            other.id == goroutine.id || !in_cycle(goroutine) && place(other) == place(goroutine)
        });
        if !told && shown.len() < SHOWN_GOROUTINES {
            shown.push(goroutine);
        }
    }
    for goroutine in &shown {
        suspicion.facts.extend(story::goroutine(trace, selects, goroutine));
        let at_same = |other: &&&Goroutine| {
            place(other) == place(goroutine) && !shown.iter().any(|one| one.id == other.id)
        };
        match ordered.iter().filter(at_same).count() {
            0 => {}
            1 => suspicion.facts.push("  another goroutine is at the same place".to_owned()),
            more => suspicion.facts.push(format!("  {more} more goroutines are at the same place")),
        }
    }
    if suspicion.idle {
        suspicion.facts.push(
            "it waits for its next message; the test may have forgotten to close what started it"
                .to_owned(),
        );
    }
    suspicion
}

fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and one more with it".to_owned(),
        others => format!(", and {others} more with it"),
    }
}

fn is_sending(goroutine: &Goroutine) -> bool {
    goroutine.channels.iter().any(|channel| channel.direction == Direction::Send)
}

/// The circle in one line.
fn tell_cycle(cycle: &[&Goroutine]) -> String {
    let names: Vec<String> = cycle.iter().map(|one| story::name(one)).collect();
    match names.as_slice() {
        [only] => format!("{only} waits for a lock that it holds itself"),
        [first, rest @ ..] => {
            let rest = rest.join(", which waits for ");
            format!("{first} waits for {rest}, which waits for {first}")
        }
        [] => String::new(),
    }
}

fn overdue(trace: &Trace, selects: &Selects) -> Suspicion {
    // The first goroutine only waits for the tests.
    let tests: Vec<&Goroutine> =
        trace.goroutines.iter().filter(|one| one.id != 1 && story::runs_test(one)).collect();
    let active = |one: &&&Goroutine| one.status == Status::Active;
    let spinning: Vec<&Goroutine> = trace
        .goroutines
        .iter()
        .filter(|one| active(&one) && one.id != 1 && selects.place(one).is_some())
        .collect();
    let places: Vec<&Site> =
        tests.iter().filter_map(|goroutine| selects.own(&goroutine.frames)).collect();
    let place = places.first().map(|site| selects.show(site));
    let title = match (tests.iter().any(|one| active(&one)), place) {
        (true, Some(place)) => format!("the test does not end, it spins at {place}"),
        (false, Some(place)) => format!("the test does not end, it waits at {place}"),
        (_, None) => "the test does not end".to_owned(),
    };
    let class = FindingClass::EndlessTest;
    let mut suspicion =
        Suspicion::new(Kind::TIMEOUT, class, Certainty::Likely, title).at(selects, &places);
    let more = spinning.iter().filter(|one| !tests.iter().any(|test| test.id == one.id));
    let told = tests.iter().chain(more).take(SHOWN_GOROUTINES);
    suspicion.facts = told.flat_map(|one| story::goroutine(trace, selects, one)).collect();
    suspicion
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
    let title = said.unwrap_or("the test fails").to_owned();
    let class = FindingClass::DependsOnTime;
    let mut suspicion = Suspicion::new(Kind::ASSERTION, class, Certainty::Sensitive, title);
    suspicion.locations = location.into_iter().collect();
    suspicion.causes.clone_from(&suspicion.locations);
    Some(suspicion)
}
