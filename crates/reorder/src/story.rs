//! A blocked goroutine in words: what blocks, where, on what, and who should have unblocked it.

use strait_golang::{Channel, Direction, Goroutine, Object, Status, Trace};

use crate::selects::Selects;

/// What a goroutine is at, in a phrase for titles.
pub fn waiting_for(goroutine: &Goroutine) -> &'static str {
    let (object, channels) = (goroutine.object.map(|(object, _)| object), &goroutine.channels);
    match (goroutine.reason.as_str(), object, channels.as_slice()) {
        (reason, ..) if reason.contains("nil chan") => "at a nil channel",
        ("select (no cases)", ..) => "in a select without cases",
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
        (reason, ..) if reason.starts_with("sync.RWMutex") => "locking a RWMutex",
        (reason, ..) if reason.starts_with("sync.WaitGroup") => "waiting for a WaitGroup",
        (reason, ..) if reason.starts_with("sync.Cond") => "waiting for a Cond",
        _ => "blocked",
    }
}

/// All that is known about a blocked goroutine, a fact a line.
pub fn goroutine(trace: &Trace, selects: &Selects, blocked: &Goroutine) -> Vec<String> {
    let mut lines = Vec::new();
    let place = selects.place(blocked);
    let (at, function) =
        place.map_or(("?".to_owned(), "?"), |site| (selects.show(site), short(&site.function)));
    let how = waiting_for(blocked);
    lines.push(format!("goroutine {} is {how} at {at} in {function}", blocked.id));
    for channel in &blocked.channels {
        lines.extend(describe(trace, selects, channel, blocked.id));
    }
    if let Some((object, address)) = blocked.object.filter(|_| blocked.channels.is_empty()) {
        lines.extend(holder(trace, selects, object, address, blocked.id));
    }
    if blocked.kept_by_timers {
        lines.push("  only its own timers wake it, again and again".to_owned());
    }
    if let Some(created) = blocked.created.as_ref().filter(|site| !selects.is_standard(site)) {
        let by = blocked.parent;
        lines.push(format!("  it was started at {} by goroutine {by}", selects.show(created)));
    }
    lines
}

fn describe(trace: &Trace, selects: &Selects, channel: &Channel, own: u32) -> Vec<String> {
    let kind = match (channel.timer, channel.capacity) {
        (true, _) => "the channel of a timer".to_owned(),
        (false, 0) => "the unbuffered channel".to_owned(),
        (false, capacity) => {
            format!("the channel with {} of {capacity} places taken", channel.length)
        }
    };
    let made = channel
        .made
        .as_ref()
        .map_or_else(String::new, |site| format!(" made at {}", selects.show(site)));
    let mut lines = vec![format!("  {kind}{made}")];
    let (others, verb) = match channel.direction {
        Direction::Send => (&channel.received, "receive from it"),
        Direction::Receive => (&channel.sent, "send to it"),
    };
    lines.push(match others {
        Some((site, who)) if *who != own => {
            let state = whereabouts(trace, *who);
            format!("  the last {verb} was at {} by goroutine {who}, {state}", selects.show(site))
        }
        _ => format!("  there was no {verb} by anybody else"),
    });
    if channel.direction == Direction::Receive && !channel.closed && !channel.timer {
        lines.push("  and nobody closed it".to_owned());
    }
    lines
}

fn holder(
    trace: &Trace,
    selects: &Selects,
    object: Object,
    address: u64,
    own: u32,
) -> Option<String> {
    if matches!(object, Object::WaitGroup | Object::Cond) {
        return None;
    }
    let held = trace.held.get(&address)?;
    let place = selects.show(&held.place);
    if held.goroutine == u64::from(own) {
        return Some(format!("  it holds the lock itself, since {place}"));
    }
    let state = whereabouts(trace, u32::try_from(held.goroutine).unwrap_or_default());
    Some(format!("  the lock was taken at {place} by goroutine {}, {state}", held.goroutine))
}

/// What became of a goroutine.
fn whereabouts(trace: &Trace, id: u32) -> &'static str {
    match trace.goroutines.iter().find(|goroutine| goroutine.id == id).map(|found| found.status) {
        None => "which has ended",
        Some(Status::Leaked) => "which is blocked for ever itself",
        Some(Status::Waiting) => "which is blocked",
        Some(Status::Active | Status::Syscall) => "which is running",
    }
}

/// A function without the path of its package.
pub fn short(function: &str) -> &str {
    function.rsplit('/').next().unwrap_or(function)
}
