//! How a worker starts code and compilers that a campaign names: with limits, and in a sandbox where the
//! system has one. Which of them it is, is said at the start and in the JSON document.

use serde_json::{Value, json};
use strait_toolchain::{Error, Launcher, Limits, Sandbox, machine_memory};

/// What a Go module or a compiler may use, with everything that it starts; half of the machine's memory
/// if that is less. Files, and the time, are limited for all programs of a worker.
const MEMORY: u64 = 4 << 30;
const PROCESSES: u64 = 256;
/// What a program may write besides the results, which is kept in memory.
const DISK: u64 = 1 << 30;

/// When code and compilers of campaigns run in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    IfPossible,
    Always,
    Never,
}

impl Wish {
    /// The flag that says so.
    pub fn flag(self) -> Option<&'static str> {
        match self {
            Wish::IfPossible => None,
            Wish::Always => Some("--require-sandbox"),
            Wish::Never => Some("--no-sandbox"),
        }
    }
}

/// Starts code and compilers of campaigns.
pub struct Confined {
    launcher: Launcher,
    is_used: bool,
    /// Why there is no sandbox.
    missing: Option<String>,
}

impl Confined {
    /// Checks whether there is a sandbox, unless no campaign that needs one is accepted.
    pub fn find(is_used: bool, launcher: &Launcher, wish: Wish) -> anyhow::Result<Self> {
        let memory = machine_memory().map_or(MEMORY, |all| MEMORY.min(all / 2));
        let limits = Limits { memory: Some(memory), family: Some(PROCESSES), ..*launcher.limits() };
        let launcher = launcher.clone().limited(limits);
        if !is_used {
            return Ok(Confined { launcher, is_used, missing: None });
        }
        if wish == Wish::Never {
            let missing = Some("--no-sandbox".to_owned());
            return Ok(Confined { launcher, is_used, missing });
        }
        let sandbox = Sandbox::of_this_user(DISK);
        match sandbox.check(&launcher) {
            Ok(()) => {
                let launcher = launcher.sandboxed(sandbox);
                Ok(Confined { launcher, is_used, missing: None })
            }
            Err(Error::NoSandbox { reason }) if wish != Wish::Always => {
                Ok(Confined { launcher, is_used, missing: Some(reason) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What to start them with.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// For the JSON document: whether they run in a sandbox, and if not, why. Null if none is started.
    pub fn sandbox(&self) -> Value {
        match &self.missing {
            _ if !self.is_used => Value::Null,
            None => json!({ "used": true }),
            Some(reason) => json!({ "used": false, "reason": reason }),
        }
    }

    /// What to say at the start.
    pub fn notice(&self) -> Option<String> {
        match &self.missing {
            _ if !self.is_used => None,
            None => Some("code and compilers of campaigns run in a sandbox".to_owned()),
            Some(reason) => Some(format!(
                "WARNING: code and compilers of campaigns run without a sandbox, with limits alone: \
                 {reason}"
            )),
        }
    }
}
