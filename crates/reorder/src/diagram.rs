//! What is left of a run as a space-time diagram: the goroutines that are blocked, who started them, who holds
//! the locks that they wait for, and the last uses of the channels that they wait at. A run does not write down
//! the order of all events, so the order between lanes is known only along arrows, and the diagram says so.

use std::collections::{BTreeMap, BTreeSet};

use strait_diagram::{ArrowKind, Diagram, End, EndState, Event, EventId, LaneId, SourcePlace};
use strait_golang::{Channel, Direction, Goroutine, Site, Status, Trace};

use crate::quote::Quotes;
use crate::selects::Selects;
use crate::story;
use crate::waits::{holders, pending_writers};

/// The most goroutines that are drawn as blocked.
const BLOCKED: usize = 8;
/// The most channels of one goroutine.
const CHANNELS: usize = 3;

/// The diagram of the goroutines that stand at these places, `file:line`; `None` if there are none.
pub fn diagram(
    trace: &Trace,
    selects: &Selects,
    quotes: &mut Quotes<'_>,
    title: &str,
    places: &[String],
) -> Option<Diagram> {
    let stands = |goroutine: &&Goroutine| {
        let place = selects.place(goroutine).map(|site| selects.show(site));
        let waits = matches!(goroutine.status, Status::Waiting | Status::Leaked);
        waits && place.is_some_and(|place| places.contains(&place))
    };
    let mut blocked: Vec<&Goroutine> = trace.goroutines.iter().filter(stands).collect();
    blocked.sort_by_key(|goroutine| goroutine.id);
    let more = blocked.len().saturating_sub(BLOCKED);
    blocked.truncate(BLOCKED);
    let mut drawing = Drawing {
        trace,
        selects,
        quotes,
        diagram: Diagram::new(title),
        locks: BTreeMap::new(),
        drawn: BTreeSet::new(),
    };
    match (blocked.is_empty(), &trace.closed) {
        (true, Some(closed)) => drawing.panic(closed, places),
        (true, None) => return None,
        (false, _) => {
            blocked.iter().for_each(|goroutine| drawing.start(goroutine));
            blocked.iter().for_each(|goroutine| drawing.hold_locks(goroutine));
            blocked.iter().for_each(|goroutine| drawing.use_channels(goroutine));
            blocked.iter().for_each(|goroutine| drawing.wait(goroutine));
        }
    }
    drawing.ends(&blocked);
    drawing.diagram.description =
        "What is known of the run. The order of events in different lanes \
        is known only where an arrow leads from one to the other."
            .to_owned();
    if more > 0 {
        drawing.diagram.description += &format!(" {more} more goroutines are blocked like these.");
    }
    Some(drawing.diagram)
}

struct Drawing<'a, 'q> {
    trace: &'a Trace,
    selects: &'a Selects,
    quotes: &'a mut Quotes<'q>,
    diagram: Diagram,
    /// What locks are called, by address.
    locks: BTreeMap<u64, String>,
    /// Goroutines whose locks are drawn.
    drawn: BTreeSet<u32>,
}

impl Drawing<'_, '_> {
    fn goroutine(&self, id: u32) -> Option<&Goroutine> {
        self.trace.goroutines.iter().find(|goroutine| goroutine.id == id)
    }

    fn lane(&mut self, id: u32) -> LaneId {
        let name = match self.goroutine(id) {
            Some(goroutine) => story::name(goroutine),
            None if id == 1 => "goroutine 1 (runs the tests)".to_owned(),
            None => format!("goroutine {id}"),
        };
        self.diagram.lane(&name)
    }

    /// The place, and the line of the source there or else these words.
    fn told(&mut self, site: &Site, words: &str) -> (String, Option<SourcePlace>) {
        let place = SourcePlace::parse(&self.selects.show(site));
        let quoted = place.as_ref().and_then(|place| {
            let file = place.file.as_deref()?;
            self.quotes.line(file, place.line)
        });
        (quoted.unwrap_or_else(|| words.to_owned()), place)
    }

    fn event(&mut self, id: u32, site: &Site, words: &str) -> EventId {
        let lane = self.lane(id);
        let (label, place) = self.told(site, words);
        self.diagram.event(lane, label, place)
    }

    /// The go statement. The starter of a starter is left out: it explains little.
    fn start(&mut self, goroutine: &Goroutine) {
        let Some(created) = goroutine.created.clone() else { return };
        if self.selects.is_standard(&created) {
            return;
        }
        let name = story::name(goroutine);
        let event = self.event(goroutine.parent, &created, "go");
        self.diagram.start(event, &name);
    }

    fn lock_name(&mut self, address: u64) -> String {
        let number = self.locks.len() + 1;
        self.locks.entry(address).or_insert_with(|| format!("lock {number}")).clone()
    }

    /// The locks that a goroutine holds, and those that it waits for with their holders.
    fn hold_locks(&mut self, goroutine: &Goroutine) {
        let mut involved = vec![goroutine.id];
        involved.extend(holders(self.trace, goroutine).map(|held| held.goroutine));
        for id in involved {
            if !self.drawn.insert(id) {
                continue;
            }
            for (address, held) in self.trace.held.clone() {
                for one in held.iter().filter(|one| one.goroutine == id) {
                    let name = self.lock_name(address);
                    let event = self.event(id, &one.place, &format!("locks {name}"));
                    self.diagram.acquire(event, &name);
                }
            }
        }
    }

    /// The last uses of the channels that a goroutine waits at.
    fn use_channels(&mut self, goroutine: &Goroutine) {
        for channel in goroutine.channels.iter().filter(|channel| !channel.timer).take(CHANNELS) {
            let uses = uses(channel);
            for (site, id, words) in uses.into_iter().filter(|(_, id, _)| *id != goroutine.id) {
                if id == 0 || self.selects.is_standard(site) {
                    continue;
                }
                let lane = self.lane(id);
                let (label, place) = self.told(site, words);
                let is_same = |event: &Event| event.lane == lane && event.place == place;
                if !self.diagram.events.iter().any(is_same) {
                    self.diagram.event(lane, label, place);
                }
            }
        }
    }

    /// Which lanes hold what a goroutine waits for.
    fn wait(&mut self, goroutine: &Goroutine) {
        let Some((_, address)) = goroutine.object.filter(|_| goroutine.channels.is_empty()) else {
            return;
        };
        let name = self.lock_name(address);
        let lane = self.lane(goroutine.id);
        let held: Vec<u32> = holders(self.trace, goroutine).map(|held| held.goroutine).collect();
        let writers: Vec<u32> =
            pending_writers(self.trace, goroutine).map(|writer| writer.id).collect();
        for id in held {
            let holder = self.lane(id);
            self.diagram.wait(lane, holder, &name);
        }
        for id in writers {
            let writer = self.lane(id);
            self.diagram.wait(lane, writer, &format!("the writer of {name}"));
        }
    }

    /// A panic at a channel that is closed.
    fn panic(&mut self, closed: &strait_golang::ClosedChannel, places: &[String]) {
        let close = self.event(closed.goroutine, &closed.closed, "closes the channel");
        let lane = self.diagram.lane("the goroutine that panics");
        let place = places.first().and_then(|place| SourcePlace::parse(place));
        let quoted =
            place.as_ref().and_then(|place| self.quotes.line(place.file.as_deref()?, place.line));
        let words = quoted.unwrap_or_else(|| "uses the closed channel".to_owned());
        let panic = self.diagram.event(lane, words, place.clone());
        self.diagram.mark_bad(panic);
        self.diagram.arrow(close, panic, ArrowKind::Unblock, "the channel is closed");
        self.diagram.end(lane, End::new(EndState::Panicked, "the channel is closed", place));
    }

    /// How each goroutine that is drawn ends.
    fn ends(&mut self, blocked: &[&Goroutine]) {
        for goroutine in &self.trace.goroutines {
            let name = story::name(goroutine);
            if !self.diagram.has_lane(&name) {
                continue;
            }
            let is_blocked = blocked.iter().any(|one| one.id == goroutine.id);
            let state = match goroutine.status {
                _ if is_blocked => EndState::Waiting,
                Status::Active | Status::Syscall => EndState::Running,
                Status::Waiting | Status::Leaked => EndState::Blocked,
            };
            let site = self.selects.place(goroutine).cloned();
            let place = site.as_ref().and_then(|site| SourcePlace::parse(&self.selects.show(site)));
            let quoted = site.map(|site| self.told(&site, "").0).unwrap_or_default();
            let doing = story::doing(goroutine);
            let label = match quoted.as_str() {
                "" => doing.to_owned(),
                quoted => format!("{doing}: {quoted}"),
            };
            let lane = self.diagram.lane(&name);
            self.diagram.end(lane, End::new(state, label, place));
        }
        if self.diagram.has_lane("goroutine 1 (runs the tests)") {
            let lane = self.lane(1);
            self.diagram.end(lane, End::new(EndState::Running, "", None));
        }
    }
}

/// The last uses of a channel that another goroutine may have made: site, goroutine, words.
fn uses(channel: &Channel) -> Vec<(&Site, u32, &'static str)> {
    let other = match channel.direction {
        Direction::Send => channel.received.as_ref().map(|(site, id)| (site, *id, "receives")),
        Direction::Receive => channel.sent.as_ref().map(|(site, id)| (site, *id, "sends")),
    };
    let closed = channel.close.as_ref().map(|(site, id)| (site, *id, "closes"));
    let passed = channel.passed.as_ref();
    let passed = passed.map(|(site, id)| (site, *id, "select that took another case"));
    other.into_iter().chain(passed).chain(closed).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use strait_diagram::{overlapping_texts, svg};
    use strait_golang::{Held, Object};

    use super::*;

    fn site(line: u32) -> Site {
        Site {
            file: format!("/m/file{}.go", line % 7),
            line,
            function: "example.com/m.work".into(),
        }
    }

    /// A small generator of numbers, so that the runs are the same everywhere.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    fn goroutine(numbers: &mut Numbers, id: u32) -> Goroutine {
        let locks = numbers.below(3) == 0;
        let channel = Channel {
            address: numbers.below(4),
            direction: if numbers.below(2) == 0 { Direction::Send } else { Direction::Receive },
            timer: false,
            closed: false,
            length: 0,
            capacity: 1,
            made: Some(site(3)),
            sent: Some((site(20 + id), 1 + numbers.below(12) as u32)),
            received: Some((site(40 + id), 1 + numbers.below(12) as u32)),
            close: None,
            passed: (numbers.below(2) == 0).then(|| (site(60), 1 + numbers.below(12) as u32)),
        };
        Goroutine {
            id,
            parent: numbers.below(u64::from(id)) as u32 + 1,
            status: if numbers.below(4) == 0 { Status::Active } else { Status::Waiting },
            reason: "chan receive".into(),
            created: Some(site(100 + id)),
            kept_by_timers: false,
            leaked_at_failure: false,
            test: "TestOfSomethingWithALongName/and_a_subtest".into(),
            object: locks.then(|| (Object::Mutex, numbers.below(3))),
            channels: if locks { vec![] } else { vec![channel] },
            frames: vec![site(200 + id)],
        }
    }

    #[test]
    fn a_hundred_random_runs_are_drawn_without_overlapping_texts() {
        let selects = Selects::new(Path::new("/go"), Path::new("/m"));
        let mut drawn = 0;
        for seed in 0..140 {
            let mut numbers = Numbers(seed);
            let count = 2 + numbers.below(10) as u32;
            let goroutines = (2..2 + count).map(|id| goroutine(&mut numbers, id)).collect();
            let mut trace = Trace { goroutines, ..Trace::default() };
            for address in 0..3 {
                let goroutine = 2 + numbers.below(u64::from(count)) as u32;
                let held = Held { goroutine, object: Object::Mutex, place: site(300) };
                trace.held.insert(address, vec![held]);
            }
            let places: Vec<String> =
                trace.goroutines.iter().map(|one| selects.show(&one.frames[0])).collect();
            let mut quotes = Quotes::new(Path::new("/m"));
            let Some(diagram) = diagram(&trace, &selects, &mut quotes, "TestX: blocked", &places)
            else {
                continue;
            };
            drawn += 1;
            assert_eq!(diagram.check(), Ok(()));
            assert_eq!(overlapping_texts(&svg(&diagram)), Vec::<String>::new(), "{diagram:?}");
            let waits = diagram.lanes.iter().filter(|lane| lane.end.state == EndState::Waiting);
            assert!(waits.count() > 0);
        }
        assert!(drawn >= 100, "{drawn}");
    }

    #[test]
    fn locks_taken_in_opposite_order_wait_for_each_other() {
        let selects = Selects::new(Path::new("/go"), Path::new("/m"));
        let mut numbers = Numbers(1);
        let mut trace = Trace::default();
        for (id, wanted) in [(7, 2_u64), (8, 1)] {
            let mut one = goroutine(&mut numbers, id);
            (one.status, one.object, one.channels) =
                (Status::Waiting, Some((Object::Mutex, wanted)), vec![]);
            trace.goroutines.push(one);
            let held = Held { goroutine: id, object: Object::Mutex, place: site(10 + id) };
            trace.held.insert(u64::from(id) - 6, vec![held]);
        }
        let places = [207, 208].map(|line| selects.show(&site(line)));
        let mut quotes = Quotes::new(Path::new("/m"));
        let diagram = diagram(&trace, &selects, &mut quotes, "x", &places).expect("a diagram");
        assert_eq!(diagram.locks.len(), 2);
        let waits: Vec<(&str, &str)> = diagram
            .waits
            .iter()
            .map(|wait| {
                let name = |lane: LaneId| diagram.lanes[lane.index()].name.as_str();
                (name(wait.lane), name(wait.holder))
            })
            .collect();
        assert_eq!(waits, [("goroutine 7", "goroutine 8"), ("goroutine 8", "goroutine 7")]);
    }
}
