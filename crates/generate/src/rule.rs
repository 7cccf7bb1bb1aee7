//! The names of all rules, those of Stiévenart and Madsen, OOPSLA 2020 and those beyond it, as one index.

use std::fmt;

/// The four families of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Fig. 10: terminating effects from nothing.
    Generation,
    /// Fig. 11: parts of an effect are doubled or surrounded.
    Expansion,
    /// Fig. 12: parts of an effect change places.
    Reordering,
    /// Beyond the paper: whatever a target can do that λ_chan cannot say.
    Extension,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 4] =
        [Family::Generation, Family::Expansion, Family::Reordering, Family::Extension];

    /// The name that sets all weights of the family in a weights file.
    pub fn name(self) -> &'static str {
        match self {
            Family::Generation => "generation",
            Family::Expansion => "expansion",
            Family::Reordering => "reordering",
            Family::Extension => "extension",
        }
    }
}

macro_rules! define_rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal in $family:ident;)*) => {
        /// A rule of the generator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: [Rule; Rule::COUNT] = [$(Rule::$rule,)*];
            /// How many there are.
            pub const COUNT: usize = [$(Rule::$rule,)*].len();

            /// The name as the paper writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$rule => $name,)*
                }
            }

            /// The family it belongs to.
            pub fn family(self) -> Family {
                match self {
                    $(Rule::$rule => Family::$family,)*
                }
            }
        }
    };
}

define_rules! {
    /// ε
    GFinal = "G-FINAL" in Generation;
    /// φ₁; φ₂
    GSeq = "G-SEQ" in Generation;
    /// φ₁ + φ₂
    GChoice = "G-CHOICE" in Generation;
    /// SPAWN(φ)
    GSpawn = "G-SPAWN" in Generation;
    /// Two processes exchange messages over one channel.
    GPingPong = "G-PINGPONG" in Generation;
    /// A process deals with several children, one channel each.
    GFanOut = "G-FANOUT" in Generation;
    /// A message walks through a row of processes.
    GPipeline = "G-PIPELINE" in Generation;
    /// A process selects among several children.
    GSelect = "G-SELECT" in Generation;
    /// φ → φ + φ
    EChoiceDup = "E-CHOICE-DUP" in Expansion;
    /// GET(c) → SELGET(c, ε) ⊕ SELGET(c, ε)
    EGetSelect = "E-GET-SELECT" in Expansion;
    /// PUT(c) → SELPUT(c, ε) ⊕ SELPUT(c, ε)
    EPutSelect = "E-PUT-SELECT" in Expansion;
    /// φ → φ₁; φ; φ₂
    ESeq = "E-SEQ" in Expansion;
    /// A case of a select twice.
    ESelectDup = "E-SELECT-DUP" in Expansion;
    /// Two cases of a select change places.
    RSelect = "R-SELECT" in Reordering;
    /// A choice between gets becomes a select over them.
    RChoiceSelectGetGet = "R-CHOICESELECTGETGET" in Reordering;
    /// Two spawns change places.
    RSpawn1 = "R-SPAWN-1" in Reordering;
    /// The second of two spawns moves into the first.
    RSpawn2 = "R-SPAWN-2" in Reordering;
    /// An operation is tried without waiting before it is performed.
    XTry = "X-TRY" in Extension;
    /// An operation is begun and cancelled before it is performed.
    XCancel = "X-CANCEL" in Extension;
    /// A channel gets a buffer.
    XBuffer = "X-BUFFER" in Extension;
    /// A channel holds any number of messages.
    XUnbounded = "X-UNBOUNDED" in Extension;
    /// A process is sent the channel it works on.
    XHandOff = "X-HANDOFF" in Extension;
    /// Two channels become one; has to be proved.
    XMerge = "X-MERGE" in Extension;
    /// Receivers learn from `close` that nothing more comes.
    XClose = "X-CLOSE" in Extension;
    /// Receivers loop until the channel is closed and empty.
    XDrain = "X-DRAIN" in Extension;
    /// `close` wakes all that wait.
    XBroadcast = "X-BROADCAST" in Extension;
    /// The receiver leaves early.
    XAbandon = "X-ABANDON" in Extension;
    /// Messages are left in a buffer.
    XLeftover = "X-LEFTOVER" in Extension;
    /// Several processes select on both ends of shared channels.
    XShared = "X-SHARED" in Extension;
    /// Processes that would both put and get meet in pairs.
    XExchange = "X-EXCHANGE" in Extension;
    /// Puts and gets that are given up for good when they take too long.
    XGiveUp = "X-GIVEUP" in Extension;
    /// Puts and gets that are given up for good beside others that wait.
    XQuit = "X-QUIT" in Extension;
    /// Functions that call themselves put and get.
    XRecursion = "X-RECURSION" in Extension;
}

impl Rule {
    /// The rule with this name, written with small or capital letters.
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// How often each rule was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCounts {
    counts: [u64; Rule::COUNT],
}

impl RuleCounts {
    /// Nothing was applied yet.
    pub fn new() -> Self {
        RuleCounts { counts: [0; Rule::COUNT] }
    }

    /// One more application.
    pub fn record(&mut self, rule: Rule) {
        self.counts[rule as usize] += 1;
    }

    /// How often this rule was applied.
    pub fn get(&self, rule: Rule) -> u64 {
        self.counts[rule as usize]
    }

    /// Adds the counts of another program.
    pub fn add(&mut self, other: &RuleCounts) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// Every rule with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        Rule::ALL.into_iter().map(|rule| (rule, self.get(rule)))
    }
}

impl Default for RuleCounts {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for rule in Rule::ALL {
            assert_eq!(Rule::named(rule.name()), Some(rule));
            assert_eq!(Rule::named(&rule.name().to_lowercase()), Some(rule));
        }
        assert_eq!(Rule::named("G-PONG"), None);
    }
}
