//! What a campaign against typecheckers is about: what a user asks for, as a folder keeps it, and what
//! workers of a queue need to know. Workers ask the same oracles at the same versions about programs of
//! the same rules, or they do not take part.

use serde::{Deserialize, Serialize};
use strait_campaign::{Mismatch, Servable, Turn, Unit};
use strait_clp::Source;
use strait_toolchain::Launcher;

use crate::error::Error;
use crate::language::Language;
use crate::oracle::{Oracle, find, is_command, language_of};
use crate::recipe::{Fuzzer, GENERATOR_VERSION, Mode, Recipe};
use crate::rules::is_path;
use crate::workload::Programs;

/// What a campaign was begun with. What the user leaves out is as it was when the campaign is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What is asked of the typecheckers; precision if nothing is said.
    mode: Option<Mode>,
    /// Features and rule files; swarm if there are none.
    fuzzer: Vec<String>,
    /// The rule files as they were: name and text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<(String, String)>,
    /// Names of oracles; the installed rustc if there are none.
    oracles: Vec<String>,
}

impl Settings {
    /// As the user asks; every oracle once, and the rule files as they are now.
    pub fn new(mode: Option<Mode>, fuzzer: Vec<String>, asked: Vec<String>) -> Result<Self, Error> {
        // Oracles say which language is meant, if nothing else does.
        let fuzzer = match (fuzzer.is_empty(), asked.first().and_then(|name| language_of(name))) {
            (true, Some(language)) if language != Language::Rust => {
                vec![language.name().to_owned()]
            }
            _ => fuzzer,
        };
        let read = Fuzzer::named(&fuzzer)?;
        for name in &asked {
            check_language(name, language_of(name), read.language())?;
        }
        let files =
            read.files().iter().map(|file| (file.name.clone(), file.text.clone())).collect();
        let mut oracles: Vec<String> = Vec::new();
        for name in asked {
            if !oracles.contains(&name) {
                oracles.push(name);
            }
        }
        Ok(Settings { mode, fuzzer, files, oracles })
    }

    /// Where programs come from.
    pub fn fuzzer(&self) -> Result<Fuzzer, Error> {
        let files = self.files.iter().map(|(name, text)| Source::new(name, text)).collect();
        Fuzzer::with_files(&self.fuzzer, files)
    }

    /// Why workers cannot take part, if they cannot: files and commands are of this machine.
    pub fn only_here(&self) -> Option<String> {
        let file = self.files.first().map(|(name, _)| format!("the rule file {name}"));
        let command = self.oracles.iter().find(|name| is_command(name));
        file.or_else(|| command.map(|name| format!("the command `{name}`")))
    }

    /// What is asked.
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Precision)
    }

    /// The oracles that are asked; the one of the language if none is named.
    pub fn oracles(&self) -> Vec<String> {
        match self.oracles.as_slice() {
            [] => {
                let language = self.fuzzer().ok().and_then(|fuzzer| fuzzer.language());
                vec![language.unwrap_or(Language::Rust).default_oracle().to_owned()]
            }
            oracles => oracles.to_vec(),
        }
    }
}

/// Refuses an oracle that would reject everything, because it judges another language than the programs'.
pub(crate) fn check_language(
    oracle: &str,
    judges: Option<Language>,
    made: Option<Language>,
) -> Result<(), Error> {
    match (judges, made) {
        (Some(judges), Some(made)) if judges != made => Err(Error::OtherLanguage {
            oracle: oracle.to_owned(),
            judges,
            made,
            next: format!("`--fuzzer {}` makes programs for it", judges.name()),
        }),
        _ => Ok(()),
    }
}

impl strait_campaign::Settings for Settings {
    const KIND: &'static str = "types";
    const COMMAND: &'static str = "strait types";
    const GENERATOR: u32 = GENERATOR_VERSION;

    fn resumed(self, given: &Self) -> Result<Self, Mismatch> {
        Mismatch::check(self.mode(), given.mode, |mode| format!("mode {}", mode.name()))?;
        let fuzzer = (!given.fuzzer.is_empty()).then_some(&given.fuzzer);
        Mismatch::check(&self.fuzzer, fuzzer, |names| match names.as_slice() {
            [] => "fuzzer swarm".to_owned(),
            names => format!("fuzzer {}", names.join(" ")),
        })?;
        if !given.fuzzer.is_empty() && given.files != self.files {
            return Err(Mismatch::Code { what: "the rules" });
        }
        let oracles = (!given.oracles.is_empty()).then(|| given.oracles());
        Mismatch::check(self.oracles(), oracles, |names| format!("oracle {}", names.join(" ")))?;
        Ok(self)
    }
}

/// What decides what an index means to workers of a queue, and who judges it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobSettings {
    pub(crate) seed: u64,
    pub(crate) generator: u32,
    pub(crate) mode: String,
    /// Names of features; none for swarm.
    pub(crate) fuzzer: Vec<String>,
    /// Names and versions.
    pub(crate) oracles: Vec<(String, String)>,
}

pub(crate) fn versions(oracles: &[Box<dyn Oracle>]) -> Vec<(String, String)> {
    oracles.iter().map(|oracle| (oracle.name().to_owned(), oracle.version().to_owned())).collect()
}

/// Takes part in campaigns of a queue.
pub struct Typechecking<'a>(pub &'a Launcher);

impl Servable for Typechecking<'_> {
    type Workload = Programs;
    const RUNS_FOREIGN_CODE: bool = true;
    const UNIT: Unit = Unit::Programs;

    fn prepare(&mut self, turn: &Turn<'_>) -> Result<Programs, Error> {
        let job = turn.job;
        let settings: JobSettings = job.settings()?;
        let cannot = |why: String| -> Error { job.not_here(why).into() };
        let mode = Mode::named(&settings.mode);
        let mode = mode.ok_or_else(|| cannot(format!("there is no mode {}", settings.mode)))?;
        if settings.generator != GENERATOR_VERSION {
            return Err(cannot(format!(
                "it was begun with another version of Strait (rules {}, here {GENERATOR_VERSION})",
                settings.generator
            )));
        }
        let names = settings.oracles.iter().map(|(name, _)| name);
        if let Some(command) = names.clone().find(|name| is_command(name)) {
            return Err(cannot(format!("it asks the command `{command}`")));
        }
        if let Some(file) = settings.fuzzer.iter().find(|name| is_path(name)) {
            return Err(cannot(format!("it needs the rule file {file}")));
        }
        let oracles: Vec<Box<dyn Oracle>> =
            names.map(|name| find(name, self.0, turn.stop.flag())).collect::<Result<_, _>>()?;
        let here = versions(&oracles);
        if let Some((there, here)) =
            settings.oracles.iter().zip(&here).find(|(there, here)| there != here)
        {
            return Err(cannot(format!("it asks {} {}; here is {}", there.0, there.1, here.1)));
        }
        let fuzzer = Fuzzer::with_files(&settings.fuzzer, Vec::new())?;
        let recipe = Recipe::new(settings.seed, mode, fuzzer);
        Programs::new(recipe, oracles)
    }
}

#[cfg(test)]
mod tests {
    use strait_campaign::Settings as _;

    use super::*;

    #[test]
    fn what_is_given_again_is_what_the_campaign_was_begun_with() {
        let of = |mode, fuzzer: &[&str], oracles: &[&str]| {
            let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
            Settings::new(mode, words(fuzzer), words(oracles)).expect("settings")
        };
        let begun = of(Some(Mode::Soundness), &[], &["rustc", "next-solver", "rustc"]);
        assert_eq!(begun.oracles().len(), 2);
        let other = |there: &str, here: &str| {
            Err(Mismatch::Setting { there: there.to_owned(), here: here.to_owned() })
        };
        for (given, expected) in [
            (of(None, &[], &[]), Ok(begun.clone())),
            (of(Some(Mode::Soundness), &[], &["rustc", "next-solver"]), Ok(begun.clone())),
            (of(Some(Mode::Precision), &[], &[]), other("mode soundness", "mode precision")),
            (of(None, &["traits"], &[]), other("fuzzer swarm", "fuzzer traits")),
            (of(None, &[], &["rustc"]), other("oracle rustc next-solver", "oracle rustc")),
        ] {
            assert_eq!(begun.clone().resumed(&given), expected);
        }
    }

    #[test]
    fn oracles_and_programs_are_of_one_language() {
        let of = |fuzzer: &[&str], oracles: &[&str]| {
            let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
            match Settings::new(None, words(fuzzer), words(oracles)) {
                Ok(settings) => {
                    format!("{} by {}", settings.fuzzer.join(" "), settings.oracles().join(" "))
                }
                Err(error) => error.to_string(),
            }
        };
        let other = "the oracle mypy is for Python, and the programs are TypeScript; \
                     `--fuzzer python` makes programs for it";
        let table: [(&[&str], &[&str], &str); 7] = [
            (&[], &[], " by rustc"),
            (&[], &["tsc", "tsgo"], "typescript by tsc tsgo"),
            (&["ts_unions"], &[], "ts_unions by tsc"),
            (&["python"], &["/opt/mypy"], "python by /opt/mypy"),
            (&[], &["tsc", "mypy"], other),
            (&["ts_core"], &["mypy"], other),
            (
                &["ts_core", "traits"],
                &[],
                "ts_core (TypeScript) and traits (Rust) are rules of two languages; name rules of one of them",
            ),
        ];
        for (fuzzer, oracles, expected) in table {
            assert_eq!(of(fuzzer, oracles), expected, "{fuzzer:?} {oracles:?}");
        }
    }
}
