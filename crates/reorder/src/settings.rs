//! What a campaign over Go tests is about, as a folder keeps it. What a user gives again at a resumption must
//! be the same, and so must be the code of the tests.

use serde::{Deserialize, Serialize};
use strait_campaign::Mismatch;

use crate::discover::GENERATOR;
use crate::judge::Rules;
use crate::plan::Switches;

/// What a campaign was begun with. What the user leaves out is as it was when the campaign is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Packages, as `go test` understands them; all of the module if there are none.
    pub packages: Vec<String>,
    /// Which tests, as `go test -run` understands it.
    pub run: Option<String>,
    /// In a queue, where an index is a test: the runs of each test.
    pub runs: Option<u64>,
    /// With the race detector.
    pub race: bool,
    /// Never with the virtual clock.
    pub real_time: bool,
    /// Build tags.
    pub tags: Option<String>,
    /// Which parts of the method are used.
    pub switches: Switches,
    /// What counts as wrong.
    pub rules: Rules,
    /// Workers of a queue do it, a test at a time.
    pub queue: bool,
    /// What tells the code from other code, as soon as it is known.
    pub code: Option<String>,
}

impl Settings {
    /// The packages, as they are given to `go`.
    pub fn patterns(&self) -> Vec<String> {
        match self.packages.as_slice() {
            [] => vec!["./...".to_owned()],
            packages => packages.to_vec(),
        }
    }
}

impl strait_campaign::Settings for Settings {
    const KIND: &'static str = "go";
    const COMMAND: &'static str = "strait go fuzz";
    const GENERATOR: u32 = GENERATOR;

    /// Workers of a queue are given the tests that the store does not have.
    fn is_repeatable(&self) -> bool {
        !self.queue
    }

    fn resumed(self, given: &Self) -> Result<Self, Mismatch> {
        let packages = (!given.packages.is_empty()).then(|| given.patterns());
        Mismatch::check(self.patterns(), packages, |packages| packages.join(" "))?;
        let allowed = |rules: &Rules| match rules.allowed.as_slice() {
            [] => None,
            allowed => Some(allowed.join(" ")),
        };
        let runs = |runs: Option<u64>| runs.map(|runs| runs.to_string());
        let texts = [
            ("--run", self.run.clone(), given.run.clone()),
            ("--tags", self.tags.clone(), given.tags.clone()),
            ("--allow", allowed(&self.rules), allowed(&given.rules)),
            ("--runs", runs(self.runs), runs(given.runs)),
        ];
        for (name, there, here) in texts {
            let show = |text: &Option<String>| match text {
                Some(text) => format!("{name} {text}"),
                None => format!("no {name}"),
            };
            Mismatch::check(there, here.map(Some), show)?;
        }
        let (there, here) = (self.switches, given.switches);
        let flags = [
            ("--race", self.race, given.race),
            ("--real-time", self.real_time, given.real_time),
            ("--lifecycle", self.rules.lifecycle, given.rules.lifecycle),
            ("--no-feedback", !there.feedback, !here.feedback),
            ("--no-mutation", !there.mutation, !here.mutation),
            ("--no-sanitizer", !there.sanitizer, !here.sanitizer),
            ("--no-yields", !there.yields, !here.yields),
        ];
        for (name, there, here) in flags {
            Mismatch::check(there, here.then_some(true), |is_there| match is_there {
                true => name.to_owned(),
                false => format!("no {name}"),
            })?;
        }
        let queue = |queue: &bool| if *queue { "--queue" } else { "no --queue" }.to_owned();
        Mismatch::check(self.queue, Some(given.queue), queue)?;
        match (&self.code, &given.code) {
            (Some(there), Some(here)) if there != here => {
                Err(Mismatch::Code { what: "the code of the tests" })
            }
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use strait_campaign::Settings as _;

    use super::*;

    #[test]
    fn what_is_given_again_is_what_the_campaign_was_begun_with() {
        let begun = Settings {
            run: Some("TestA".to_owned()),
            race: true,
            code: Some("1".to_owned()),
            ..Settings::default()
        };
        let other = |there: &str, here: &str| {
            Err(Mismatch::Setting { there: there.to_owned(), here: here.to_owned() })
        };
        let with = |change: &dyn Fn(&mut Settings)| {
            let mut given = Settings::default();
            change(&mut given);
            given
        };
        for (given, expected) in [
            (with(&|_| {}), Ok(begun.clone())),
            (begun.clone(), Ok(begun.clone())),
            (with(&|given| given.packages = vec!["./...".to_owned()]), Ok(begun.clone())),
            (with(&|given| given.packages = vec!["./a".to_owned()]), other("./...", "./a")),
            (
                with(&|given| given.run = Some("TestB".to_owned())),
                other("--run TestA", "--run TestB"),
            ),
            (with(&|given| given.runs = Some(3)), other("no --runs", "--runs 3")),
            (with(&|given| given.real_time = true), other("no --real-time", "--real-time")),
            (with(&|given| given.switches.yields = false), other("no --no-yields", "--no-yields")),
            (with(&|given| given.queue = true), other("no --queue", "--queue")),
            (
                with(&|given| given.code = Some("2".to_owned())),
                Err(Mismatch::Code { what: "the code of the tests" }),
            ),
        ] {
            assert_eq!(begun.clone().resumed(&given), expected, "{given:?}");
        }
    }
}
