//! The languages whose rules are built in: their rule files, what their programs are called as files, and
//! which oracle judges them unless another one is named.

use std::fmt;

macro_rules! built_in {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../rules/", $name, ".rules"))),)*]
    };
}

/// A feature: its name, and the text of its rule file.
pub type Feature = (&'static str, &'static str);

/// A language with rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// TypeScript.
    TypeScript,
    /// Python with type annotations.
    Python,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::Rust, Language::TypeScript, Language::Python];

    /// The name that `--fuzzer` takes for programs of all features of the language.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "swarm",
            Language::TypeScript => "typescript",
            Language::Python => "python",
        }
    }

    /// The language whose programs `--fuzzer NAME` makes.
    pub fn named(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// The rule files, each after those it needs. The first one is needed by all others.
    pub fn features(self) -> &'static [Feature] {
        match self {
            Language::Rust => RUST,
            Language::TypeScript => TYPESCRIPT,
            Language::Python => PYTHON,
        }
    }

    /// The rule file that every program of the language needs.
    pub(crate) fn root(self) -> &'static str {
        self.features().first().map_or("", |(name, _)| name)
    }

    /// The language that a built-in rule file belongs to.
    pub(crate) fn of_feature(name: &str) -> Option<Language> {
        let mut all = Language::ALL.into_iter();
        all.find(|language| language.features().iter().any(|(known, _)| *known == name))
    }

    /// The extension of a file with a program.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Language::Rust => "rs",
            Language::TypeScript => "ts",
            Language::Python => "py",
        }
    }

    /// The oracle that is asked if none is named.
    pub(crate) fn default_oracle(self) -> &'static str {
        match self {
            Language::Rust => "rustc",
            Language::TypeScript => "tsc",
            Language::Python => "mypy",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::Rust => "Rust",
            Language::TypeScript => "TypeScript",
            Language::Python => "Python",
        })
    }
}

const RUST: &[Feature] = built_in![
    "core",
    "primitives",
    "tuples",
    "records",
    "enums",
    "closures",
    "generics",
    "containers",
    "traits",
    "associated",
    "gats",
    "higher_ranked",
    "where_clauses",
    "objects",
    "borrows",
    "lifetimes",
    "threads",
    "const_generics",
    "iterators",
    "fn_pointers",
    "drops",
    "dyn_associated",
    "opaque",
    "auto_traits",
    "conditional_borrows",
    "coherence",
];

const TYPESCRIPT: &[Feature] =
    built_in!["ts_core", "ts_unions", "ts_generics", "ts_variance", "ts_mapped", "ts_conditional",];

const PYTHON: &[Feature] = built_in![
    "py_core",
    "py_unions",
    "py_generics",
    "py_classes",
    "py_typed_dicts",
    "py_overloads",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_file_belongs_to_one_language() {
        for language in Language::ALL {
            assert_eq!(Language::named(language.name()), Some(language));
            for (name, _) in language.features() {
                assert_eq!(Language::of_feature(name), Some(language), "{name}");
            }
        }
        assert_eq!(Language::of_feature("mine"), None);
    }
}
