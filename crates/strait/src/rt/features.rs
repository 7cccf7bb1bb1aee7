//! What costs too much to do in every search, and is done once a program turns out to need it: then
//! the search begins anew with the feature switched on.

/// Something that is off unless wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feature {
    /// The end of a thread is a step.
    Exits = 1,
    /// Synchronisation clocks are kept, to see data races.
    Clocks = 2,
    /// Every step can be interrupted by an exception.
    Exceptions = 4,
    /// Steps at rendezvous channels compete for waiting selects.
    Selects = 8,
    /// Cloning and dropping an `Arc` are steps.
    Arcs = 16,
    /// Reads are noted, to recognise loops that wait.
    Spins = 32,
    /// Under RC11: atomic variables are left to the search.
    Atomics = 64,
    /// A task may be polled once without having been woken. No program wants this by itself: the caller of
    /// a check does.
    SpuriousPolls = 128,
    /// Making, cloning and dropping a `Weak` are steps.
    Weaks = 256,
    /// To begin to wait for a lock, to write, is a step.
    Recursion = 512,
}

/// Which features are on, and which were wanted while off.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Features {
    on: u16,
    wanted: u16,
}

impl Features {
    #[inline]
    pub(crate) fn has(self, feature: Feature) -> bool {
        self.on & feature as u16 != 0
    }

    pub(crate) fn want(&mut self, feature: Feature) {
        self.wanted |= feature as u16;
    }

    /// Is something wanted that is off?
    #[inline]
    pub(crate) fn lacks(self) -> bool {
        self.wanted & !self.on != 0
    }

    /// The same with everything on that was wanted.
    pub(crate) fn satisfied(self) -> Features {
        Features { on: self.on | self.wanted, wanted: 0 }
    }

    /// What is on, as a number for the replay string.
    pub(crate) fn number(self) -> u16 {
        self.on
    }

    pub(crate) fn numbered(number: u16) -> Features {
        Features { on: number, wanted: 0 }
    }

    /// The same with a feature on.
    pub(crate) fn with(self, feature: Feature) -> Features {
        Features { on: self.on | feature as u16, ..self }
    }

    /// The wishes of both.
    pub(crate) fn or(self, other: Features) -> Features {
        Features { on: self.on | other.on, wanted: self.wanted | other.wanted }
    }
}
