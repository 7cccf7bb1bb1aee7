//! Other languages as targets: the language, and whether its programs are interpreted or compiled,
//! which are two targets since they show different faults.

use strait_emit::Platform;

/// The name of a target that means: compile the programs, although there is an interpreter.
const COMPILED: &str = "-compiled";

/// Another language, and how its programs are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The language.
    pub platform: Platform,
    /// Whether programs are compiled, many at a time, instead of interpreted.
    pub is_compiled: bool,
}

impl Dialect {
    /// All of them, as targets.
    pub fn all() -> impl Iterator<Item = Dialect> {
        Platform::ALL.into_iter().flat_map(|platform| {
            let ways = [
                Platform::interprets(platform).then_some(false),
                platform.language().map(|_| true),
            ];
            ways.into_iter().flatten().map(move |is_compiled| Dialect { platform, is_compiled })
        })
    }

    /// Reads the name of a target.
    pub fn of(name: &str) -> Option<Dialect> {
        Dialect::all().find(|dialect| dialect.name() == name)
    }

    /// The name of the target: `go`, `go-compiled`, `crystal`.
    pub fn name(self) -> String {
        let says_it = self.is_compiled && self.platform.interprets();
        format!("{}{}", self.platform.name(), if says_it { COMPILED } else { "" })
    }
}
