//! Orders of messages (GFuzz, ASPLOS 2022, section 4.1): the selects of a run in turn, each with its place,
//! its number of cases and the one that was exercised.
//!
//! | paper | here |
//! |---|---|
//! | (s, c, e) | [`Step`] `{ site, cases, chosen }` |
//! | select ID s | the hash of file and line |
//! | FetchOrder's arrays, one a select | [`Order::picks`] |

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strait_golang::{CASE_DEFAULT, Step};

use crate::chance::Chance;

/// Of an endless program only the beginning is kept.
const LONGEST: usize = 4096;

/// An order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order(pub Vec<Step>);

impl Order {
    /// The order that a run exercised. Selects that leave no choice are no part of it.
    pub fn exercised(steps: &[Step]) -> Self {
        let choices = steps.iter().filter(|step| step.cases > 1).take(LONGEST);
        Order(choices.copied().collect())
    }

    /// Is there nothing to reorder?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every tuple gets a random valid case; the selects themselves stay. A case beyond those with a
    /// channel is the default, which cannot be enforced: there the select chooses freely.
    pub fn mutated(&self, chance: &mut Chance) -> Order {
        let mutate =
            |step: &Step| Step { chosen: chance.below(u32::from(step.cases)) as u16, ..*step };
        Order(self.0.iter().map(mutate).collect())
    }

    /// What each place is to prefer, in turn.
    pub fn picks(&self) -> BTreeMap<u64, Vec<u16>> {
        let mut picks: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
        for step in &self.0 {
            picks.entry(step.site).or_default().push(step.chosen);
        }
        picks
    }

    /// For a finding's `schedule.json`.
    pub fn to_json(&self) -> Value {
        let steps = self.0.iter().map(|step| {
            let chosen = (step.chosen != CASE_DEFAULT).then_some(step.chosen);
            json!([format!("{:016x}", step.site), step.cases, chosen])
        });
        Value::Array(steps.collect())
    }

    /// The reverse; `None` if it is no order.
    pub fn from_json(value: &Value) -> Option<Order> {
        let steps = value.as_array()?.iter().map(|step| {
            let chosen = match &step[2] {
                Value::Null => CASE_DEFAULT,
                number => u16::try_from(number.as_u64()?).ok()?,
            };
            Some(Step {
                site: u64::from_str_radix(step[0].as_str()?, 16).ok()?,
                cases: u16::try_from(step[1].as_u64()?).ok()?,
                chosen,
            })
        });
        steps.collect::<Option<Vec<Step>>>().map(Order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(chosen: &[u16]) -> Order {
        Order(chosen.iter().map(|chosen| Step { site: 7, cases: 3, chosen: *chosen }).collect())
    }

    /// The working example of section 4.1: [(0,3,1),(0,3,1)] has nine possible mutants.
    #[test]
    fn nine_mutants_of_two_selects_with_three_cases() {
        let from = order(&[1, 1]);
        let mutants: std::collections::BTreeSet<Vec<u16>> = (0..200)
            .map(|number| from.mutated(&mut Chance::new(1, "x", number)).picks()[&7].clone())
            .collect();
        assert_eq!(mutants.len(), 9);
        assert!(mutants.contains(&vec![1, 2]));
    }

    #[test]
    fn orders_survive_json() {
        let from = order(&[0, 2, CASE_DEFAULT]);
        assert_eq!(Order::from_json(&from.to_json()), Some(from));
        for bad in [json!(3), json!([[1, 2, 3]]), json!([["zz", 2, 3]]), json!([["7", -1, 3]])] {
            assert_eq!(Order::from_json(&bad), None, "{bad}");
        }
    }

    #[test]
    fn selects_without_a_choice_are_no_part() {
        let one = Step { site: 1, cases: 1, chosen: 0 };
        assert!(Order::exercised(&[one]).is_empty());
    }
}
