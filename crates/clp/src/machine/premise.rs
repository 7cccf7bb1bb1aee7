//! Labelled premises: as they stand, or violated.

use super::{ChoiceKind, Frame, Machine};
use crate::program::Goal;

impl Machine<'_> {
    /// A premise that can be violated: as it stands or violated, whichever is drawn; the other way
    /// is left to try.
    pub(super) fn premise(&mut self, goal: &Goal, frame: &Frame) -> bool {
        let Some(negated) = &goal.negated else { return false };
        let allowed = self.registers.negated < self.mode.violations
            && (self.mode.labels.is_empty() || self.mode.labels.contains(&negated.label));
        if !allowed {
            return self.execute(goal.action, &goal.arguments, frame);
        }
        let violated = self.mode.random && self.stream.below(self.mode.rarity.max(1)) == 0;
        self.push_choice(ChoiceKind::Premise { violated: !violated });
        self.take_premise(goal, frame, violated)
    }

    /// Executes a premise as it stands, or violated.
    pub(super) fn take_premise(&mut self, goal: &Goal, frame: &Frame, violated: bool) -> bool {
        match (&goal.negated, violated) {
            (Some(negated), true) => {
                self.registers.negated += 1;
                self.violated.push((negated.label, frame.clause));
                self.execute(negated.action, &negated.arguments, frame)
            }
            _ => self.execute(goal.action, &goal.arguments, frame),
        }
    }
}
