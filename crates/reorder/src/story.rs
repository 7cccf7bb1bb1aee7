//! Goroutines in words: what each waits for, where, how it came there, who would have to unblock it and
//! what that one does instead.

use std::collections::BTreeSet;

use strait_golang::{Channel, Direction, Goroutine, Held, Object, Site, Status, Trace};

use crate::selects::Selects;
use crate::waits::{holders, pending_writers};

/// How many callers are shown.
const CALLERS: usize = 6;
/// How many channels of a select are described.
const CHANNELS: usize = 3;

/// What a goroutine is doing, in a phrase.
pub fn doing(goroutine: &Goroutine) -> &'static str {
    let (object, channels) = (goroutine.object.map(|(object, _)| object), &goroutine.channels);
    if matches!(goroutine.status, Status::Active) {
        return "running";
    }
    if goroutine.status == Status::Syscall {
        return "in a system call";
    }
    if waits_for_once(goroutine) {
        return "waiting for a sync.Once";
    }
    match (goroutine.reason.as_str(), object, channels.as_slice()) {
        (reason, ..) if reason.contains("nil chan") => "at a nil channel",
        ("select (no cases)", ..) => "in a select without cases",
        ("sleep", ..) => "sleeping",
        ("IO wait", ..) => "waiting for input or output",
        (reason, ..) if reason.starts_with("select") => "in a select",
        (_, _, [channel]) if channel.direction == Direction::Send => "sending to a channel",
        (_, _, [_]) => "receiving from a channel",
        (reason, ..) if reason.starts_with("chan send") => "sending to a channel",
        (reason, ..) if reason.starts_with("chan receive") => "receiving from a channel",
        (_, Some(Object::Mutex), _) => "locking a mutex",
        (_, Some(Object::Writer), _) => "locking a RWMutex",
        (_, Some(Object::Reader), _) => "read-locking a RWMutex",
        (_, Some(Object::WaitGroup), _) => "waiting for a WaitGroup",
        (_, Some(Object::Cond), _) => "waiting for a Cond",
        (reason, ..) if reason.starts_with("sync.Mutex") => "locking a mutex",
        (reason, ..) if reason.starts_with("sync.RWMutex.R") => "read-locking a RWMutex",
        (reason, ..) if reason.starts_with("sync.RWMutex") => "locking a RWMutex",
        (reason, ..) if reason.starts_with("sync.WaitGroup") => "waiting for a WaitGroup",
        (reason, ..) if reason.starts_with("sync.Cond") => "waiting for a Cond",
        _ => "waiting",
    }
}

/// Does it wait until the function of a `sync.Once` has returned?
pub fn waits_for_once(goroutine: &Goroutine) -> bool {
    let at = |name: &str| goroutine.frames.iter().position(|site| site.function == name);
    let lock = at("sync.(*Mutex).Lock");
    goroutine.object.is_some()
        && at("sync.(*Once).doSlow").is_some_and(|once| lock.is_some_and(|lock| once == lock + 1))
}

/// A goroutine with its test, if it runs one: `goroutine 7 (TestX)`.
pub fn name(goroutine: &Goroutine) -> String {
    match runs_test(goroutine) && !goroutine.test.is_empty() {
        true => format!("goroutine {} ({})", goroutine.id, goroutine.test),
        false => format!("goroutine {}", goroutine.id),
    }
}

/// Is a test or a subtest among what it runs?
pub fn runs_test(goroutine: &Goroutine) -> bool {
    goroutine.frames.iter().any(|site| site.function == "testing.tRunner")
}

/// All that is known about a goroutine that is blocked, a fact per line.
pub fn goroutine(trace: &Trace, selects: &Selects, blocked: &Goroutine) -> Vec<String> {
    let place = selects.place(blocked);
    let (at, function) =
        place.map_or(("?".to_owned(), "?"), |site| (selects.show(site), short(&site.function)));
    let mut lines = vec![format!("{} is {} at {at} in {function}", name(blocked), doing(blocked))];
    lines.extend(callers(selects, blocked));
    lines.extend(channels(trace, selects, blocked));
    if let Some((object, address)) = blocked.object.filter(|_| blocked.channels.is_empty()) {
        lines.extend(lock(trace, selects, blocked, object, address));
    }
    if blocked.kept_by_timers {
        lines.push("  only its own timers wake it, again and again".to_owned());
    }
    if let Some(created) = blocked.created.as_ref().filter(|site| !selects.is_standard(site)) {
        // The test itself is in the title.
        let subtest = match blocked.test.contains('/') && !runs_test(blocked) {
            true => format!(" in {}", blocked.test),
            false => String::new(),
        };
        let (place, starter) = (selects.show(created), starter(trace, blocked));
        lines.push(format!("  it was started at {place}{starter}{subtest}"));
    }
    lines
}

fn starter(trace: &Trace, blocked: &Goroutine) -> String {
    match trace.goroutines.iter().find(|one| one.id == blocked.parent) {
        Some(parent) => format!(" by {}", name(parent)),
        None => format!(" by goroutine {}", blocked.parent),
    }
}

/// How it came there: the user's frames above the place, each once.
fn callers(selects: &Selects, goroutine: &Goroutine) -> Vec<String> {
    let own: Vec<&Site> =
        goroutine.frames.iter().filter(|site| !selects.is_standard(site)).collect();
    let line =
        |site: &&Site| format!("  called from {} in {}", selects.show(site), short(&site.function));
    let mut lines: Vec<String> = Vec::new();
    for line in own.iter().skip(1).map(line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.len() > CALLERS {
        let more = lines.len() - CALLERS;
        lines.truncate(CALLERS);
        lines.push(format!("  and {more} more callers"));
    }
    lines
}

/// The channels that it waits at. Of a long select only the first ones are described.
fn channels(trace: &Trace, selects: &Selects, blocked: &Goroutine) -> Vec<String> {
    let (timers, others): (Vec<&Channel>, Vec<&Channel>) =
        blocked.channels.iter().partition(|channel| channel.timer);
    let shown = if blocked.channels.len() > CHANNELS + 1 { CHANNELS } else { CHANNELS + 1 };
    let mut lines: Vec<String> = others
        .iter()
        .take(shown)
        .flat_map(|channel| describe(trace, selects, channel, blocked.id))
        .collect();
    if others.len() > shown {
        lines.push(format!("  and {} more channels", others.len() - shown));
    }
    match timers.len() {
        0 => {}
        1 => lines.push("  the channel of a timer".to_owned()),
        many => lines.push(format!("  the channels of {many} timers")),
    }
    lines
}

fn describe(trace: &Trace, selects: &Selects, channel: &Channel, own: u32) -> Vec<String> {
    let kind = match channel.capacity {
        0 => "the unbuffered channel".to_owned(),
        capacity => {
            format!("the channel with {} of {capacity} places taken", channel.length)
        }
    };
    let made = channel
        .made
        .as_ref()
        .map_or_else(String::new, |site| format!(" made at {}", selects.show(site)));
    let mut lines = vec![format!("  {kind}{made}")];
    let (others, verb, past) = match channel.direction {
        Direction::Send => (&channel.received, "receive from it", "received from it"),
        Direction::Receive => (&channel.sent, "send to it", "sent to it"),
    };
    lines.push(match others {
        // The scheduler sends on behalf of timers.
        Some((site, 0)) => format!("  the last {verb} was at {} by a timer", selects.show(site)),
        Some((site, who)) if *who != own => {
            let state = whereabouts(trace, selects, *who);
            format!("  the last {verb} was at {} by goroutine {who}, {state}", selects.show(site))
        }
        _ => format!("  no other goroutine ever {past}"),
    });
    if let Some((site, who)) = channel.passed.as_ref().filter(|(_, who)| *who != own) {
        let (place, state) = (selects.show(site), whereabouts(trace, selects, *who));
        lines.push(format!(
            "  goroutine {who}, {state}, had a case to {verb} in the select at {place} and took another"
        ));
    }
    if channel.direction == Direction::Receive && !channel.closed {
        lines.push("  and no goroutine closed it".to_owned());
    }
    lines
}

/// Who holds the lock that it waits for, since where, and what the holder does.
fn lock(
    trace: &Trace,
    selects: &Selects,
    blocked: &Goroutine,
    object: Object,
    address: u64,
) -> Vec<String> {
    if matches!(object, Object::WaitGroup | Object::Cond) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let held: Vec<&Held> = trace.held.get(&address).into_iter().flatten().collect();
    let own = held.iter().filter(|one| one.goroutine == blocked.id);
    for one in own {
        let what = if one.object == Object::Reader { "a read lock" } else { "the lock" };
        lines.push(format!("  it holds {what} itself, since {}", selects.show(&one.place)));
    }
    let mut told = BTreeSet::new();
    for one in holders(trace, blocked).filter(|one| one.goroutine != blocked.id) {
        let state = whereabouts(trace, selects, one.goroutine);
        let line = if one.place.function.starts_with("sync.(*Once)") {
            format!("  goroutine {} is running the function of the Once, {state}", one.goroutine)
        } else {
            let what = if one.object == Object::Reader { "a read lock" } else { "the lock" };
            let place = selects.show(&one.place);
            format!("  goroutine {} holds {what} since {place}, {state}", one.goroutine)
        };
        if told.insert(line.clone()) {
            lines.push(line);
        }
    }
    if object == Object::Reader {
        for writer in pending_writers(trace, blocked) {
            let place = selects
                .place(writer)
                .map_or_else(String::new, |site| format!(" at {}", selects.show(site)));
            lines.push(format!(
                "  {} waits to write{place}, and new readers wait for it",
                name(writer)
            ));
        }
    }
    lines
}

/// What a goroutine does now.
fn whereabouts(trace: &Trace, selects: &Selects, id: u32) -> String {
    let Some(found) = trace.goroutines.iter().find(|goroutine| goroutine.id == id) else {
        // The goroutine of `main` writes the others down and is not among them.
        let what = if id == 1 { "which runs the tests" } else { "which has ended" };
        return what.to_owned();
    };
    let at = match selects.place(found) {
        Some(site) => format!(" at {}", selects.show(site)),
        None => String::new(),
    };
    format!("which is {}{at}", doing(found))
}

/// A function without the path of its package.
pub fn short(function: &str) -> &str {
    function.rsplit('/').next().unwrap_or(function)
}
