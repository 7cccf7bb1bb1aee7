//! What a batch of programs looks like: rules, sizes, processes, channels, selects, and how much
//! the prover rejected.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};
use strait_calculus::ast::{Program, StmtKind};

use crate::generator::{Generated, Proofs};
use crate::rule::RuleCounts;
use crate::walk;

/// How often each value occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: BTreeMap<u32, u64>,
}

/// A distribution in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The smallest value.
    pub min: u32,
    /// The value in the middle.
    pub median: u32,
    /// The average.
    pub mean: f64,
    /// The largest value.
    pub max: u32,
    /// Up to ten stretches of equal width, as [first value, last value, how many].
    pub histogram: Vec<(u32, u32, u64)>,
}

impl Distribution {
    /// One more value.
    pub fn add(&mut self, value: u32) {
        *self.counts.entry(value).or_default() += 1;
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The few numbers; all 0 when there is no value.
    pub fn summary(&self) -> Summary {
        let total = self.total();
        let (Some((min, _)), Some((max, _))) =
            (self.counts.first_key_value(), self.counts.last_key_value())
        else {
            return Summary::default();
        };
        let sum: u64 = self.counts.iter().map(|(value, count)| u64::from(*value) * count).sum();
        let mut seen = 0;
        let median = self.counts.iter().find(|(_, count)| {
            seen += **count;
            2 * seen >= total
        });
        Summary {
            min: *min,
            median: median.map_or(0, |(value, _)| *value),
            mean: sum as f64 / total as f64,
            max: *max,
            histogram: self.histogram(*min, *max),
        }
    }

    fn histogram(&self, min: u32, max: u32) -> Vec<(u32, u32, u64)> {
        let width = (max - min) / 10 + 1;
        (min..=max)
            .step_by(width as usize)
            .map(|first| {
                let last = first.saturating_add(width - 1).min(max);
                (first, last, self.counts.range(first..=last).map(|(_, count)| count).sum())
            })
            .collect()
    }
}

/// What a batch of programs looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many programs there are.
    pub programs: u64,
    /// How often each rule was applied.
    pub rules: RuleCounts,
    /// Channel operations a program.
    pub sizes: Distribution,
    /// Processes written in a program, `main` included.
    pub processes: Distribution,
    /// Channels made in a program.
    pub channels: Distribution,
    /// Selects written in a program.
    pub selects: Distribution,
    /// How often the prover was asked and agreed.
    pub proofs: Proofs,
}

impl Stats {
    /// Counts one more program.
    pub fn add(&mut self, generated: &Generated) {
        self.programs += 1;
        self.rules.add(&generated.rules);
        self.proofs.tried += generated.proofs.tried;
        self.proofs.accepted += generated.proofs.accepted;
        let shape = Shape::of(&generated.program);
        self.sizes.add(walk::operations(&generated.program));
        self.processes.add(1 + shape.spawns);
        self.channels.add(shape.channels);
        self.selects.add(shape.selects);
    }

    /// The share of candidates that the prover did not accept; `None` when it was never asked.
    pub fn rejected_share(&self) -> Option<f64> {
        let Proofs { tried, accepted } = self.proofs;
        (tried > 0).then(|| (tried - accepted) as f64 / tried as f64)
    }
}

#[derive(Default)]
struct Shape {
    spawns: u32,
    channels: u32,
    selects: u32,
}

impl Shape {
    fn of(program: &Program) -> Shape {
        let mut shape = Shape::default();
        for function in program.functions.iter() {
            walk::for_each_statement(&function.body, &mut |statement| match &statement.kind {
                StmtKind::Spawn { .. } => shape.spawns += 1,
                StmtKind::NewChannel { .. } => shape.channels += 1,
                StmtKind::Select { .. } => shape.selects += 1,
                _ => {}
            });
        }
        shape
    }
}

/// A table of rules: `{"G-SELECT": 12, …}`.
impl Serialize for RuleCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (rule, count) in self.iter() {
            map.serialize_entry(rule.name(), &count)?;
        }
        map.end()
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary().serialize(serializer)
    }
}

impl Serialize for Stats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Stats", 8)?;
        fields.serialize_field("programs", &self.programs)?;
        fields.serialize_field("rules", &self.rules)?;
        fields.serialize_field("sizes", &self.sizes)?;
        fields.serialize_field("processes", &self.processes)?;
        fields.serialize_field("channels", &self.channels)?;
        fields.serialize_field("selects", &self.selects)?;
        fields.serialize_field("proofs", &self.proofs)?;
        fields.serialize_field("rejected_share", &self.rejected_share())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_summed_up() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.summary(), Summary::default());
        for value in [1, 1, 2, 5, 30] {
            distribution.add(value);
        }
        let summary = distribution.summary();
        assert_eq!((summary.min, summary.median, summary.max), (1, 2, 30));
        assert!((summary.mean - 7.8).abs() < 1e-9);
        assert_eq!(summary.histogram.iter().map(|(_, _, count)| count).sum::<u64>(), 5);
        assert_eq!(summary.histogram[0], (1, 3, 3));
        assert_eq!(summary.histogram.last(), Some(&(28, 30, 1)));
    }
}
