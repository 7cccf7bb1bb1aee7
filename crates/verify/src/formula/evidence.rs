//! Why a formula does not hold, as far as one execution shows it: the refuter's play, followed as
//! long as the verifier has but one answer.

use super::game::{Game, Lts};
use super::normal::{Node, Normal};
use super::solve::Solution;
use crate::components::Arrows;

/// A play is not followed further than this.
const LONGEST: usize = 10_000;

/// The labels of the steps that the play takes, and from which one on it goes round.
pub fn refutation(
    lts: &Lts<'_>,
    normal: &Normal,
    game: &Game,
    solution: &Solution,
    member: &[Vec<bool>],
) -> (Vec<u32>, Option<usize>) {
    let mut labels = Vec::new();
    let mut seen = hashbrown::HashMap::with_hasher(rustc_hash::FxBuildHasher);
    let mut vertex = 0;
    while labels.len() < LONGEST {
        if let Some(before) = seen.insert(vertex, labels.len()) {
            let round = (before < labels.len()).then_some(before);
            return (labels, round);
        }
        let targets = game.targets(vertex);
        let next = if game.verifier[vertex as usize] {
            // Several answers, none of which helps: one of them would show little.
            let Some(first) =
                targets.first().filter(|first| targets.iter().all(|one| one == *first))
            else {
                break;
            };
            *first
        } else {
            match solution.choice[vertex as usize] {
                u32::MAX => match targets {
                    [only] => *only,
                    _ => break,
                },
                choice => choice,
            }
        };
        let (state, node) = game.vertices[vertex as usize];
        if let Node::Box(set, _) | Node::Diamond(set, _) = normal.nodes[node as usize] {
            let goal = game.vertices[next as usize].0;
            let step = lts
                .steps(state)
                .find(|(label, to)| *to == goal && member[set as usize][*label as usize]);
            labels.extend(step.map(|(label, _)| label));
        }
        vertex = next;
    }
    (labels, None)
}
