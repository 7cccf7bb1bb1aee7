//! What a target can do. The generator never makes what a target's contract forbids; what a target
//! can do beyond λ_chan switches on the rules of [`Family::Extension`](crate::Family).

use serde::{Deserialize, Serialize};

/// What programs may contain. [`Capabilities::default`] is the fragment of Stiévenart and Madsen, OOPSLA 2020.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Channels on which sender and receiver meet. Without them every channel gets a buffer.
    pub rendezvous: bool,
    /// Channels that hold a fixed number of messages.
    pub buffered: bool,
    /// The most messages that such a channel may hold; `None` for any number.
    pub max_capacity: Option<u32>,
    /// Channels that hold any number of messages.
    pub unbounded: bool,
    /// `close`, and gets that learn of it.
    pub close: bool,
    /// Select cases that put.
    pub select_puts: bool,
    /// Select cases that get.
    pub select_gets: bool,
    /// One channel in two cases of a select.
    pub same_channel_twice: bool,
    /// One select that would put and would get on the same channel.
    pub put_and_get_in_select: bool,
    /// Select with default over a get: gets that do not wait.
    pub default_gets: bool,
    /// The same of a put.
    pub default_puts: bool,
    /// Gets that are begun, polled and cancelled.
    pub timeout_gets: bool,
    /// The same of puts.
    pub timeout_puts: bool,
    /// The receiving end goes away before the messages do.
    pub abandon: bool,
    /// Messages that are channels.
    pub channels_over_channels: bool,
    /// Functions that call themselves.
    pub recursion: bool,
    /// `while`.
    pub loops: bool,
    /// Every put sends its own integer, so that a lost, doubled or swapped message shows.
    pub integers: bool,
    /// Messages may own memory. The language does not see it; a target reads it to choose its
    /// message type.
    pub owned_payloads: bool,
    /// Programs in which many processes select on both ends of the same channels, beyond what the
    /// paper's rules share.
    pub shared_ends: bool,
    /// Several receivers may wait on one channel.
    pub many_receivers: bool,
    /// Several senders may wait on one channel.
    pub many_senders: bool,
    /// On every channel at most one message is ever put, and at most one get is ever completed.
    pub one_message: bool,
    /// How many processes a program may have, `main` included.
    pub max_processes: Option<u32>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Capabilities {
            rendezvous: true,
            buffered: false,
            max_capacity: None,
            unbounded: false,
            close: false,
            select_puts: true,
            select_gets: true,
            same_channel_twice: true,
            put_and_get_in_select: false,
            default_gets: false,
            default_puts: false,
            timeout_gets: false,
            timeout_puts: false,
            abandon: false,
            channels_over_channels: false,
            recursion: false,
            loops: false,
            integers: false,
            owned_payloads: false,
            shared_ends: false,
            many_receivers: true,
            many_senders: true,
            one_message: false,
            max_processes: None,
        }
    }
}

/// A named switch of [`Capabilities`].
type Switch = (&'static str, fn(&mut Capabilities) -> &mut bool);

const SWITCHES: [Switch; 21] = [
    ("rendezvous", |all| &mut all.rendezvous),
    ("buffered", |all| &mut all.buffered),
    ("unbounded", |all| &mut all.unbounded),
    ("close", |all| &mut all.close),
    ("select-puts", |all| &mut all.select_puts),
    ("select-gets", |all| &mut all.select_gets),
    ("same-channel-twice", |all| &mut all.same_channel_twice),
    ("put-and-get-in-select", |all| &mut all.put_and_get_in_select),
    ("default-gets", |all| &mut all.default_gets),
    ("default-puts", |all| &mut all.default_puts),
    ("timeout-gets", |all| &mut all.timeout_gets),
    ("timeout-puts", |all| &mut all.timeout_puts),
    ("abandon", |all| &mut all.abandon),
    ("channels-over-channels", |all| &mut all.channels_over_channels),
    ("recursion", |all| &mut all.recursion),
    ("loops", |all| &mut all.loops),
    ("integers", |all| &mut all.integers),
    ("owned-payloads", |all| &mut all.owned_payloads),
    ("shared-ends", |all| &mut all.shared_ends),
    ("many-receivers", |all| &mut all.many_receivers),
    ("many-senders", |all| &mut all.many_senders),
];

impl Capabilities {
    /// Everything that the language can say.
    pub fn all() -> Self {
        let mut all = Capabilities::default();
        for (_, switch) in SWITCHES {
            *switch(&mut all) = true;
        }
        all
    }

    /// The names that [`Capabilities::set`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SWITCHES.into_iter().map(|(name, _)| name)
    }

    /// Switches one capability by its name; `None` when there is none of that name.
    pub fn set(&mut self, name: &str, on: bool) -> Option<()> {
        let (_, switch) = SWITCHES.into_iter().find(|(known, _)| *known == name)?;
        *switch(self) = on;
        Some(())
    }

    /// The smaller of this capacity and the largest that is possible.
    pub(crate) fn at_most(&self, capacity: u32) -> u32 {
        self.max_capacity.map_or(capacity, |most| most.min(capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_moves_its_own_field() {
        let mut everything_off = Capabilities::default();
        for name in Capabilities::names() {
            everything_off.set(name, false).expect("a listed name is known");
        }
        for name in Capabilities::names() {
            let mut one = everything_off.clone();
            one.set(name, true).expect("a listed name is known");
            assert_ne!(one, everything_off, "{name}");
            one.set(name, false).expect("a listed name is known");
            assert_eq!(one, everything_off, "{name}");
        }
        assert_eq!(everything_off.set("telepathy", true), None);
    }

    #[test]
    fn the_default_is_the_paper() {
        let paper = Capabilities::default();
        assert!(paper.rendezvous && paper.select_puts && paper.same_channel_twice);
        assert!(!paper.buffered && !paper.close && !paper.integers && !paper.recursion);
    }
}
