//! What a run is asked for. A plan and the sources are all a replay needs.
//!
//! Yields find most, but some bugs hide from them, and preferences help some selects and hinder
//! others: so the arms of [`arm`] take turns, and some runs are free of both.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strait_golang::{Pause, Wishes};

use crate::chance::Chance;
use crate::order::Order;

/// T of the paper, and what is added to it when no message came.
const WINDOW: Duration = Duration::from_millis(500);
const MORE_WINDOW: Duration = Duration::from_secs(3);
/// By a real clock every window that passes costs its length, so it starts small.
const REAL_WINDOW: Duration = Duration::from_millis(20);
const MORE_REAL_WINDOW: Duration = Duration::from_millis(480);

/// Which parts of the method are used: the switches of the paper's ablation (figure 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// Only interesting orders are mutated further.
    pub feedback: bool,
    /// Orders are mutated and enforced.
    pub mutation: bool,
    /// Goroutines that are left are judged.
    pub sanitizer: bool,
    /// Operations give way now and then.
    pub yields: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches { feedback: true, mutation: true, sanitizer: true, yields: true }
    }
}

/// What a run is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The seed of its yields and poll orders.
    pub seed: u64,
    /// Yields of 1024 operations.
    pub rate: u32,
    /// Yields at chosen places, every time: a goroutine is slow at a line.
    pub sited: bool,
    /// What its selects are to prefer.
    pub order: Order,
    /// How often the order was waited for in vain.
    pub patience: u32,
    /// GOMAXPROCS, if not that of the machine.
    pub processors: Option<u32>,
    /// How long a yield sleeps at most, if not as long as usual.
    pub nap: Option<Duration>,
    /// Places that are slow, by their ids.
    pub slow: BTreeMap<u64, Pause>,
}

impl Plan {
    /// The program as it is.
    pub fn plain(seed: u64) -> Self {
        Plan {
            seed,
            rate: 0,
            sited: false,
            order: Order::default(),
            patience: 0,
            processors: None,
            nap: None,
            slow: BTreeMap::new(),
        }
    }

    /// Is nothing disturbed and nothing preferred?
    pub fn is_plain(&self) -> bool {
        self.rate == 0 && self.order.is_empty() && self.slow.is_empty()
    }

    /// As it is written into the shared file.
    pub fn wishes(&self, virtual_time: bool, limit: Duration, sanitize: bool) -> Wishes {
        let (window, more) =
            if virtual_time { (WINDOW, MORE_WINDOW) } else { (REAL_WINDOW, MORE_REAL_WINDOW) };
        let usual = Wishes::default();
        Wishes {
            seed: self.seed,
            rate: self.rate,
            sited: self.sited,
            window: window + more * self.patience,
            picks: self.order.picks(),
            sanitize,
            limit,
            nap: self.nap.unwrap_or(usual.nap),
            // Goroutines that pause have to wake up before they are judged.
            settle: usual.settle + self.nap.filter(|_| !virtual_time).unwrap_or_default(),
            slow: self.slow.clone(),
            ..usual
        }
    }

    /// In one phrase.
    pub fn describe(&self) -> String {
        let order = match self.order.0.len() {
            0 => "no order".to_owned(),
            1 => "an order of one select".to_owned(),
            count => format!("an order of {count} selects"),
        };
        let slow = match self.slow.len() {
            0 => String::new(),
            1 => ", a pause at one place".to_owned(),
            places => format!(", pauses at {places} places"),
        };
        match self.rate {
            0 => format!("seed {}, no yields, {order}{slow}", self.seed),
            rate => {
                let what = if self.sited { "places" } else { "operations" };
                format!("seed {}, yields at {rate} of 1024 {what}, {order}{slow}", self.seed)
            }
        }
    }
}

/// What kind of run comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Yields of 1024 operations.
    pub rate: u32,
    /// At places instead of operations.
    pub sited: bool,
    /// With a mutated order, if there is one.
    pub ordered: bool,
    /// On one processor.
    pub single: bool,
}

/// The arm of a test's n-th run.
pub fn arm(number: u64, switches: Switches, chance: &mut Chance) -> Arm {
    // Rate, by place, with an order.
    const ARMS: [(u32, bool, bool); 12] = [
        (256, false, false),
        (0, false, true),
        (256, true, false),
        (128, false, true),
        (512, false, false),
        (384, true, true),
        (0, false, true),
        (64, false, false),
        (512, true, false),
        (0, false, false),
        (384, false, true),
        (128, true, false),
    ];
    let (rate, sited, ordered) = ARMS[(number % ARMS.len() as u64) as usize];
    let rate = if switches.yields { rate } else { 0 };
    let ordered = ordered && switches.mutation;
    Arm { rate, sited, ordered, single: chance.below(4) == 0 }
}
