//! What a verdict about a model says about the Go program, given what the model leaves out.

use std::fmt;

use strait_golang::{Approximation, Assumption, Entry};
use strait_verify::{Formula, Property, Verdict};

use crate::answer::{Conclusion, Reason};

/// The assumptions that an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rests {
    /// One of them.
    pub first: Assumption,
    /// How many others there are.
    pub more: usize,
}

impl fmt::Display for Rests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.first)?;
        match self.more {
            0 => Ok(()),
            1 => formatter.write_str(", and 1 more assumption"),
            more => write!(formatter, ", and {more} more assumptions"),
        }
    }
}

/// How an answer depends on the side on which a model errs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sensitivity {
    /// May a proof be wrong if the model can do more than the program?
    proof_to_more: bool,
    /// May a violation be wrong if the model can do less?
    violation_to_less: bool,
    /// May a violation disappear if an operation was left out?
    violation_to_left_out: bool,
}

impl Sensitivity {
    /// Properties forbid executions: more of them do not make a proof wrong.
    pub(crate) fn of_property(property: Property, verdict: &Verdict) -> Sensitivity {
        let waits = property == Property::EventualReception || verdict.is_about_waiting();
        Sensitivity { proof_to_more: false, violation_to_less: false, violation_to_left_out: waits }
    }

    /// A formula may ask that something is possible.
    pub(crate) fn of_formula(formula: &Formula) -> Sensitivity {
        let asks_for_more = !formula.is_universal();
        Sensitivity {
            proof_to_more: asks_for_more,
            violation_to_less: asks_for_more,
            violation_to_left_out: true,
        }
    }
}

/// What is concluded from a verdict. What is proved of a model that leaves something out is not
/// proved of the program; a violation says what it rests on.
pub(crate) fn conclude(verdict: &Verdict, sensitivity: Sensitivity, entry: &Entry) -> Conclusion {
    let violated = match &verdict.why {
        strait_verify::Why::Unknown(unknown) => {
            return Conclusion::Unknown(Reason::Model(unknown.clone()));
        }
        strait_verify::Why::Proved => false,
        strait_verify::Why::Violated(_) => true,
    };
    if entry.truncated {
        return Conclusion::Unknown(Reason::TooLarge { violated });
    }
    let rests = |matters: &dyn Fn(Approximation) -> bool| {
        let mut matter = entry.assumptions.iter().filter(|one| matters(one.approximation));
        let first = matter.next()?.clone();
        Some(Rests { first, more: matter.count() })
    };
    if !violated {
        let matters =
            |side: Approximation| side != Approximation::Over || sensitivity.proof_to_more;
        return match rests(&matters) {
            Some(rests) => Conclusion::Unknown(Reason::LeavesOut(rests)),
            None => Conclusion::Holds,
        };
    }
    if let Some(place) = &verdict.untracked {
        return Conclusion::Unknown(Reason::Untracked { place: place.clone() });
    }
    let doubted = |side: Approximation| match side {
        Approximation::Over => false,
        Approximation::Under => sensitivity.violation_to_less,
        Approximation::Either => sensitivity.violation_to_left_out,
    };
    match rests(&doubted) {
        Some(rests) => Conclusion::Unknown(Reason::MayBePrevented(rests)),
        None => Conclusion::Violated(rests(&|side| side != Approximation::Under)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use strait_calculus::parse;
    use strait_golang::{GoPosition, Operations, Positions};
    use strait_verify::{Budget, Nowhere, verify};

    use super::*;

    fn entry(text: &str, sides: &[Approximation], truncated: bool) -> Entry {
        let position = GoPosition {
            file: "m.go".into(),
            line: 3,
            column: 1,
            daemon: false,
            recovered: false,
            imprecise: false,
        };
        let assumption = |side: &Approximation| Assumption {
            position: Some(position.clone()),
            about: strait_golang::About::NoSuchFunction,
            subject: format!("{side:?}"),
            approximation: *side,
        };
        Entry {
            name: "m.main".into(),
            position: position.clone(),
            program: parse(text).expect("a program"),
            text: text.into(),
            positions: Positions::default(),
            names: BTreeMap::new(),
            assumptions: sides.iter().map(assumption).collect(),
            loops: vec![],
            migo: String::new(),
            operations: Operations::default(),
            truncated,
            test: false,
            coarse: None,
        }
    }

    fn concluded(
        text: &str,
        sides: &[Approximation],
        truncated: bool,
        property: Property,
    ) -> String {
        let entry = entry(text, sides, truncated);
        let found = verify(&entry.program, &[property], &Budget::default(), &Nowhere);
        let (_, verdict) = &found.verdicts[0];
        match conclude(verdict, Sensitivity::of_property(property, verdict), &entry) {
            Conclusion::Holds => "holds".into(),
            Conclusion::Violated(None) => "violated".into(),
            Conclusion::Violated(Some(rests)) => format!("violated if {rests}"),
            Conclusion::Unknown(Reason::LeavesOut(rests)) => format!("leaves out {rests}"),
            Conclusion::Unknown(Reason::MayBePrevented(rests)) => format!("prevented by {rests}"),
            Conclusion::Unknown(Reason::TooLarge { violated }) => format!("too large, {violated}"),
            Conclusion::Unknown(other) => format!("{other}"),
        }
    }

    #[test]
    fn properties_rest_on_what_the_model_leaves_out() {
        use Approximation::{Either, Over, Under};
        let fine = "main { }";
        let blocks = "main { chan c: int; get c }";
        let panics = "main { chan c: int; close c; close c }";
        let live = Property::Live;
        let safe = Property::ChannelSafe;
        for (text, sides, property, expected) in [
            (fine, &[][..], live, "holds"),
            (fine, &[Over], live, "holds"),
            (fine, &[Under], live, "leaves out m.go:3: there is no function Under"),
            (
                fine,
                &[Over, Either, Under],
                live,
                "leaves out m.go:3: there is no function Either, and 1 more assumption",
            ),
            (blocks, &[], live, "violated"),
            (blocks, &[Under], live, "violated"),
            (blocks, &[Over], live, "violated if m.go:3: there is no function Over"),
            (blocks, &[Over, Either], live, "prevented by m.go:3: there is no function Either"),
            (panics, &[Either], safe, "violated if m.go:3: there is no function Either"),
        ] {
            assert_eq!(concluded(text, sides, false, property), expected, "{sides:?} {text}");
        }
        assert_eq!(concluded(fine, &[], true, live), "too large, false");
        assert_eq!(concluded(blocks, &[], true, live), "too large, true");
    }

    #[test]
    fn formulas_that_ask_for_more_rest_on_more() {
        use Approximation::{Either, Over, Under};
        let more = |text: &str| {
            let formula = Formula::parse(text).expect("a formula");
            let one = Sensitivity::of_formula(&formula);
            (one.proof_to_more, one.violation_to_less)
        };
        assert_eq!(more("[true*.send(c)]false"), (false, false));
        assert_eq!(more("!<true*.send(c)>true"), (false, false));
        assert_eq!(more("[true*]<true>true"), (true, true));
        for side in [Over, Under, Either] {
            let entry = entry("main { }", &[side], false);
            let found = verify(&entry.program, &[Property::Live], &Budget::default(), &Nowhere);
            let formula = Formula::parse("<true>true").expect("a formula");
            let conclusion =
                conclude(&found.verdicts[0].1, Sensitivity::of_formula(&formula), &entry);
            assert!(matches!(conclusion, Conclusion::Unknown(_)), "{side:?}");
        }
    }
}
