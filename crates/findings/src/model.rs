//! A finding as it is handed in ([`Discovery`]) and as it is kept ([`Finding`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strait_diagram::Diagram;

use crate::group;
use crate::kind::Kind;
use crate::text;

/// The format of `finding.json`. Grows when an older Strait could not read it any more.
pub const FORMAT: i64 = 1;

/// A fault that has just shown itself, with everything needed to show it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    /// What kind of fault.
    pub kind: Kind,
    /// In what: a channel crate, a compiler, a Go test.
    pub target: String,
    /// The target's version.
    pub version: String,
    /// The seed of the campaign.
    pub seed: u64,
    /// The program's index.
    pub index: u64,
    /// The version of the generator, without which seed and index say nothing.
    pub generator_version: u32,
    /// In how many runs of this program the fault showed.
    pub failed: u64,
    /// Of how many runs of this program.
    pub runs: u64,
    /// What is the same when the fault shows again: the top of a stack or trace, a signal and its
    /// message. Addresses, numbers and the like are stripped, see [`crate::normalise`].
    pub fingerprint: String,
    /// One line for people.
    pub title: String,
    /// Why this is a fault, with the evidence, for people.
    pub explanation: String,
    /// The program as `.strait`.
    pub program: Option<String>,
    /// The program as the target's source: file names and texts.
    pub sources: Vec<(String, String)>,
    /// What the target wrote. The middle of a long output is left out.
    pub output: Vec<u8>,
    /// The schedule or order that shows it.
    pub schedule: Option<Value>,
    /// What was observed.
    pub observation: Option<Value>,
    /// Whatever else the part that found it needs for a replay.
    pub details: BTreeMap<String, Value>,
    /// What the user has to name for a replay, such as a compiler or a module.
    #[serde(default)]
    pub replay_arguments: Vec<String>,
    /// The execution that shows it, if it has an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagram: Option<Diagram>,
}

impl Discovery {
    /// The least there is to say; the rest is empty.
    pub fn new(
        kind: Kind,
        target: impl Into<String>,
        version: impl Into<String>,
        seed: u64,
        index: u64,
    ) -> Self {
        Discovery {
            title: kind.to_string(),
            kind,
            target: target.into(),
            version: version.into(),
            seed,
            index,
            generator_version: 0,
            failed: 1,
            runs: 1,
            fingerprint: String::new(),
            explanation: String::new(),
            program: None,
            sources: Vec::new(),
            output: Vec::new(),
            schedule: None,
            observation: None,
            details: BTreeMap::new(),
            replay_arguments: Vec::new(),
            diagram: None,
        }
    }

    /// Sets the title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets what is the same when the fault shows again.
    pub fn fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = fingerprint.into();
        self
    }

    /// Sets the program.
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// The name of its directory, the same wherever and whenever this fault is found.
    pub fn id(&self) -> String {
        let group = self.group();
        // The whole name also depends on what was lost when target and version became safe names.
        let hash = group::hash(&[&group, &self.version]);
        let parts =
            [self.kind.to_string(), text::file_name(&self.target), text::file_name(&self.version)];
        format!("{}-{}", parts.join("-"), &hash[..8])
    }

    /// The fault, whatever the version.
    pub fn group(&self) -> String {
        group::fault(&self.kind, &self.target, &self.fingerprint)
    }
}

/// A fault that was found, once or many times: `finding.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`FORMAT`].
    pub format: i64,
    /// The name of its directory.
    pub id: String,
    /// What kind of fault.
    pub kind: Kind,
    /// In what.
    pub target: String,
    /// The target's version.
    pub version: String,
    /// One line for people.
    pub title: String,
    /// The seed of the program it was first found with.
    pub seed: u64,
    /// The index of the program it was first found with.
    pub index: u64,
    /// The version of the generator.
    pub generator_version: u32,
    /// How many programs have shown it.
    pub count: u64,
    /// In how many runs of the first program it showed.
    pub failed: u64,
    /// Of how many runs of the first program.
    pub runs: u64,
    /// When it was first found, UTC.
    pub first_seen: String,
    /// After how many seconds of the campaign.
    pub found_after: u64,
    /// The fault, whatever the version: equal for the same fault in several versions.
    pub group: String,
    /// The normalised fingerprint.
    pub fingerprint: String,
    /// Why this is a fault.
    pub explanation: String,
    /// The command that shows it again, started in its directory.
    pub reproduce: String,
    /// The files beside this one.
    pub files: Vec<String>,
    /// What a replay needs to know besides.
    #[serde(default)]
    pub details: BTreeMap<String, Value>,
}
