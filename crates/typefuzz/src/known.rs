//! Classes of difference that are understood, with their reasons: `known.toml`.

use serde::Deserialize;

use crate::error::Error;
use crate::judge::RULES;
use crate::oracle::{Profile, Rejection};

/// A class of difference.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Why it is no fault.
    pub reason: String,
    accepts: String,
    rejects: String,
    #[serde(default)]
    codes: Vec<String>,
    #[serde(default)]
    messages: Vec<String>,
    #[serde(default)]
    violations: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    class: Vec<Class>,
}

/// The classes that are known.
#[derive(Clone, Debug)]
pub struct Known {
    classes: Vec<Class>,
}

impl Known {
    /// Those that are built in.
    pub fn built_in() -> Result<Self, Error> {
        let file: File = toml::from_str(include_str!("known.toml"))
            .map_err(|error| Error::Bug { what: format!("known.toml: {error}") })?;
        Ok(Known { classes: file.class })
    }

    /// Why a class is no fault.
    pub fn reason(&self, name: &str) -> &str {
        self.classes.iter().find(|class| class.name == name).map_or("", |class| &class.reason)
    }

    /// The class of a difference: who accepts, who rejects, why, and which premises the program
    /// violates.
    pub fn class(
        &self,
        accepts: &Profile,
        rejects: &Profile,
        why: &Rejection,
        violations: &[&str],
    ) -> Option<&Class> {
        self.classes.iter().find(|class| {
            accepts.is(&class.accepts)
                && rejects.is(&class.rejects)
                && class.explains(why)
                && (class.violations.is_empty() || class.is_about(violations))
        })
    }

    /// The class of a program that violates these premises and is accepted all the same.
    pub fn accepted(&self, accepts: &Profile, violations: &[&str]) -> Option<&Class> {
        self.classes.iter().find(|class| {
            class.rejects == RULES && accepts.is(&class.accepts) && class.is_about(violations)
        })
    }
}

impl Class {
    fn is_about(&self, violations: &[&str]) -> bool {
        violations.iter().any(|one| self.violations.iter().any(|two| one == two))
    }

    fn explains(&self, why: &Rejection) -> bool {
        match why.codes.as_slice() {
            [] => self.messages.iter().any(|message| why.message.starts_with(message)),
            codes => codes.iter().all(|code| self.codes.contains(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_about_all_codes_and_both_sides() {
        let known = Known::built_in().expect("known.toml is read");
        let why = |codes: &[&str]| Rejection {
            codes: codes.iter().map(|code| (*code).to_owned()).collect(),
            ..Rejection::default()
        };
        let rustc = |flag: &str| Profile::rustc(&[flag.to_owned()]);
        let (nll, polonius) = (rustc(""), rustc("-Zpolonius=next"));
        let legacy = rustc("-Zpolonius=legacy");
        let name = |accepts, rejects, codes: &[&str]| {
            known.class(accepts, rejects, &why(codes), &[]).map(|class| class.name.as_str())
        };
        assert_eq!(name(&polonius, &nll, &["E0499"]), Some("polonius"));
        assert_eq!(name(&polonius, &nll, &["E0499", "E0308"]), None);
        assert_eq!(name(&nll, &polonius, &["E0499"]), None);
        assert_eq!(name(&polonius, &legacy, &["E0499"]), None);
        assert_eq!(name(&polonius, &nll, &[]), None);
        let analyzer = Profile::of("rust-analyzer");
        let lives = Rejection { message: "lifetime may not live long enough".into(), ..why(&[]) };
        let class = known.class(&analyzer, &nll, &lives, &["returned"]);
        assert_eq!(class.map(|class| class.name.as_str()), Some("rust-analyzer-borrows"));
        let at_impl = |violations| known.class(&analyzer, &nll, &why(&["E0277"]), violations);
        assert!(at_impl(&["supertrait"]).is_some());
        assert_eq!(at_impl(&["bound"]), None);
        let unsound = |profile, label| known.accepted(profile, &[label]).map(|class| &class.name);
        assert_eq!(unsound(&nll, "implied_bound").map(String::as_str), Some("implied-bounds"));
        assert_eq!(unsound(&nll, "returned_elsewhere"), None);
        assert!(unsound(&polonius, "returned_elsewhere").is_some());
    }
}
