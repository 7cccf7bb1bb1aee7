//! Channel names that are found by unification.
//!
//! While names are still being found, an effect holds the positions of name variables in the place
//! of names ([`NameVar::placeholder`]); [`Names::resolve_effect`] puts the names in.

use super::ChanType;
use crate::language::effect::{ChannelName, Effect, SelectEffect};
use crate::language::index::Idx;

/// A channel name before unification: a position in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameVar(u32);

impl NameVar {
    /// Stands in an effect until the name is known.
    pub fn placeholder(self) -> ChannelName {
        ChannelName(self.0)
    }
}

/// A type of Fig. 7 whose names may still be unknown.
#[derive(Clone, Debug)]
pub(super) enum Ty {
    Unit,
    Bool,
    Channel(Box<Ty>, NameVar),
}

impl Ty {
    /// The type as a program writes it.
    pub fn without_names(&self) -> String {
        match self {
            Ty::Unit => "unit".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Channel(element, _) => format!("chan {}", element.without_names()),
        }
    }
}

/// What is known about a name.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It is another one.
    Same(NameVar),
    /// It belongs to a channel that the program makes.
    Made(ChannelName),
    /// Nothing yet.
    Unknown,
}

/// Why two types are not one.
pub(super) enum Mismatch {
    /// Two different channels.
    Names(ChannelName, ChannelName),
    /// Types that differ in more than names.
    Types,
}

/// Everything that is known about names.
#[derive(Default)]
pub(super) struct Names {
    states: Vec<State>,
}

impl Names {
    /// The name of a channel that the program makes.
    pub fn made(&mut self, channel: ChannelName) -> NameVar {
        self.push(State::Made(channel))
    }

    /// A name of which nothing is known yet.
    pub fn unknown(&mut self) -> NameVar {
        self.push(State::Unknown)
    }

    fn push(&mut self, state: State) -> NameVar {
        self.states.push(state);
        NameVar((self.states.len() - 1) as u32)
    }

    fn state(&mut self, name: NameVar) -> &mut State {
        &mut self.states[name.0 as usize]
    }

    fn root(&self, mut name: NameVar) -> NameVar {
        while let State::Same(other) = self.states[name.0 as usize] {
            name = other;
        }
        name
    }

    /// Makes two types one, if they can be.
    pub fn unify(&mut self, expected: &Ty, found: &Ty) -> Result<(), Mismatch> {
        match (expected, found) {
            (Ty::Unit, Ty::Unit) | (Ty::Bool, Ty::Bool) => Ok(()),
            (Ty::Channel(expected, a), Ty::Channel(found, b)) => {
                let (a, b) = (self.root(*a), self.root(*b));
                match (*self.state(a), *self.state(b)) {
                    _ if a == b => {}
                    (State::Made(one), State::Made(other)) if one != other => {
                        return Err(Mismatch::Names(one, other));
                    }
                    (State::Unknown, _) => *self.state(a) = State::Same(b),
                    _ => *self.state(b) = State::Same(a),
                }
                self.unify(expected, found)
            }
            _ => Err(Mismatch::Types),
        }
    }

    /// Gives a fresh name, from `fresh` on, to whatever is still unknown: it belongs to channels
    /// that never arrive, so any name will do.
    pub fn settle(&mut self, mut fresh: usize) {
        for state in &mut self.states {
            if let State::Unknown = state {
                *state = State::Made(ChannelName::new(fresh));
                fresh += 1;
            }
        }
    }

    fn name(&self, name: NameVar) -> ChannelName {
        match self.states[self.root(name).0 as usize] {
            State::Made(channel) => channel,
            // A root is never `Same`, and `settle` has left nothing unknown.
            State::Unknown | State::Same(_) => ChannelName(u32::MAX),
        }
    }

    /// The type with its names; after [`Names::settle`].
    pub fn resolve(&self, ty: &Ty) -> ChanType {
        match ty {
            Ty::Unit => ChanType::Unit,
            Ty::Bool => ChanType::Bool,
            Ty::Channel(element, name) => {
                ChanType::Channel(Box::new(self.resolve(element)), self.name(*name))
            }
        }
    }

    /// Replaces placeholders by names; after [`Names::settle`]. CHAN(c) has its name from the start.
    pub fn resolve_effect(&self, effect: Effect) -> Effect {
        let name = |placeholder: ChannelName| self.name(NameVar(placeholder.0));
        let all = |effects: Vec<Effect>| -> Vec<Effect> {
            effects.into_iter().map(|effect| self.resolve_effect(effect)).collect()
        };
        match effect {
            Effect::Empty | Effect::Chan(_) => effect,
            Effect::Get(channel) => Effect::Get(name(channel)),
            Effect::Put(channel) => Effect::Put(name(channel)),
            Effect::Spawn(effect) => Effect::spawn(self.resolve_effect(*effect)),
            Effect::Seq(effects) => Effect::Seq(all(effects)),
            Effect::Choice(effects) => Effect::Choice(all(effects)),
            Effect::Select(cases) => Effect::Select(
                cases
                    .into_iter()
                    .map(|case| match case {
                        SelectEffect::Get(channel, body) => {
                            SelectEffect::Get(name(channel), self.resolve_effect(body))
                        }
                        SelectEffect::Put(channel, body) => {
                            SelectEffect::Put(name(channel), self.resolve_effect(body))
                        }
                    })
                    .collect(),
            ),
        }
    }
}
