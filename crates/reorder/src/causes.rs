//! What a group of blocked goroutines is known by, besides the places where they wait. Goroutines that
//! are left for one reason may wait at many places and in many tests; what they have in common is the
//! select that gave up, the line of a test that fed them last, or the function that did not stop them.

use std::collections::BTreeSet;

use strait_golang::{Channel, Direction, Goroutine, Site, Trace};

use crate::blocked::{is_idle, started_by};
use crate::selects::Selects;

/// Is a place in a file of tests?
pub(crate) fn is_test_file(site: &Site) -> bool {
    site.file.ends_with("_test.go")
}

/// The causes of a group of goroutines, in words that are the same in every run.
pub(crate) fn causes(trace: &Trace, selects: &Selects, group: &[&Goroutine]) -> BTreeSet<String> {
    let mut causes = BTreeSet::new();
    // A goroutine of a library that serves requests is not stopped, whatever it served last.
    let serves = |one: &&Goroutine| started_by(one).is_some() && receives(one).next().is_some();
    if group.iter().all(serves) {
        let functions = group.iter().filter_map(|one| started_by(one));
        causes.extend(functions.map(|name| format!("idle goroutines of {name}")));
    }
    for goroutine in group {
        causes.extend(left_by_test(selects, goroutine));
        causes.extend(given_up(trace, selects, goroutine));
        causes.extend(fed_by_test(goroutine).map(|site| format!("fed at {}", selects.show(site))));
    }
    causes
}

/// Did functions of a library start these goroutines, and do all wait for their next message? If such a
/// thing is never closed, they are left.
pub(crate) fn waits_for_use(group: &[&Goroutine]) -> bool {
    let waits = |one: &&Goroutine| is_idle(one) || fed_by_test(one).next().is_some();
    group.iter().all(|one| started_by(one).is_some() && waits(one))
}

/// Lines of tests that sent the last message to a goroutine which waits for the next one.
fn fed_by_test(goroutine: &Goroutine) -> impl Iterator<Item = &Site> {
    let sent = receives(goroutine).filter_map(|channel| channel.sent.as_ref());
    sent.map(|(site, _)| site).filter(|site| is_test_file(site))
}

/// The channels from which a goroutine waits for a message.
fn receives(goroutine: &Goroutine) -> impl Iterator<Item = &Channel> {
    goroutine.channels.iter().filter(|channel| channel.direction == Direction::Receive)
}

/// A function of a test that has started a goroutine and leaves it waiting for a message that no other
/// goroutine sends: all that the function leaves in this way has one cause, also in its subtests.
fn left_by_test(selects: &Selects, goroutine: &Goroutine) -> Option<String> {
    let at_nil = goroutine.reason.contains("nil chan");
    let created = goroutine.created.as_ref().filter(|site| is_test_file(site))?;
    let waits = is_idle(goroutine) || at_nil;
    let in_test = selects.place(goroutine).is_some_and(is_test_file);
    (waits && in_test).then(|| format!("idle goroutines of {}", whole_function(&created.function)))
}

/// Selects outside the standard library that could have helped and took another case, unless the same
/// goroutine came back to the channel.
fn given_up(trace: &Trace, selects: &Selects, goroutine: &Goroutine) -> BTreeSet<String> {
    let waits_again = |who: u32, address: u64| {
        let passer = trace.goroutines.iter().find(|one| one.id == who);
        passer.is_some_and(|one| one.channels.iter().any(|channel| channel.address == address))
    };
    let mut given_up = BTreeSet::new();
    for channel in &goroutine.channels {
        let Some((site, who)) = &channel.passed else { continue };
        if !selects.is_standard(site) && !waits_again(*who, channel.address) {
            given_up.insert(format!("given up at {}", selects.show(site)));
        }
    }
    given_up
}

/// The function that a closure is a part of.
fn whole_function(function: &str) -> &str {
    function.find(".func").map_or(function, |end| &function[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_belong_to_their_function() {
        for (function, expected) in [
            ("example.com/m.TestA.func4.1", "example.com/m.TestA"),
            ("example.com/m.(*Suite).TestB.func1", "example.com/m.(*Suite).TestB"),
            ("example.com/m.helper", "example.com/m.helper"),
        ] {
            assert_eq!(whole_function(function), expected);
        }
    }
}
