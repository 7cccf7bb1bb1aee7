//! The Go sources of a standalone test: the test itself, and the gates that it needs. They use the standard library
//! only and are written to be read.

use std::time::Duration;

use super::gates::Waits;

/// What a test prints before it ends because of something that stays blocked.
pub(crate) const MARK: &str = "strait: blocked forever";
/// How long the test may take, beyond what its gates take.
pub(crate) const LIMIT: Duration = Duration::from_secs(3);

/// How the user's test is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By the real clock.
    Real,
    /// In a bubble of `testing/synctest`, whose clock goes on when all goroutines wait.
    Bubble,
}

/// A mode, and the test that uses it.
pub(crate) type NamedMode = (Mode, &'static str);

/// A test that runs the user's test and fails if the fault shows.
pub(crate) struct TestText<'a> {
    pub(crate) package: &'a str,
    /// The user's test.
    pub(crate) test: &'a str,
    /// The modes, each with the name of the test that uses it.
    pub(crate) modes: &'a [(Mode, &'a str)],
    /// What the finding says, for the comment.
    pub(crate) title: &'a str,
    /// `file.go:12`: goroutines must not stay there after the test.
    pub(crate) leaks: &'a [String],
    /// How long gates may hold goroutines by the real clock.
    pub(crate) gates: Duration,
}

impl TestText<'_> {
    /// The file.
    pub(crate) fn file(&self) -> String {
        let is_used = |mode| self.modes.iter().any(|(used, _)| *used == mode);
        let mut imports = vec!["os", "runtime", "testing", "time"];
        if is_used(Mode::Bubble) {
            imports.push("testing/synctest");
        }
        if is_used(Mode::Real) && !self.leaks.is_empty() {
            imports.push("strings");
        }
        imports.sort_unstable();
        let imports: Vec<String> = imports.iter().map(|name| format!("\t\"{name}\"\n")).collect();
        let mut text = format!("package {}\n\nimport (\n{})\n", self.package, imports.concat());
        for (mode, name) in self.modes {
            text += &match mode {
                Mode::Real => self.real(name),
                Mode::Bubble => self.bubble(name),
            };
        }
        text + &stacks()
    }

    fn comment(&self, name: &str) -> String {
        let title = self.title.replace(['\n', '\r'], " ");
        format!("\n// {name} runs {} so that it shows: {title}.\n", self.test)
    }

    fn real(&self, name: &str) -> String {
        let (test, limit) = (self.test, go_duration(LIMIT + self.gates));
        let mut text = self.comment(name);
        text += &format!(
            "func {name}(t *testing.T) {{\n\
             \tended := make(chan struct{{}})\n\
             \tgo func() {{\n\t\tdefer close(ended)\n\t\t{test}(t)\n\t}}()\n\
             \tselect {{\n\tcase <-ended:\n\tcase <-time.After({limit}):\n\
             \t\tstraitFail(\"{test} does not end\")\n\t}}\n"
        );
        if !self.leaks.is_empty() {
            let wait = go_duration(Duration::from_millis(500) + self.gates);
            let places: Vec<String> =
                self.leaks.iter().map(|place| format!("\"/{place}\"")).collect();
            text += &format!(
                "\ttime.Sleep({wait})\n\
                 \tfor _, place := range []string{{{}}} {{\n\
                 \t\t// A frame ends with its offset, or with the line if it was inlined.\n\
                 \t\tstacks := straitStacks()\n\
                 \t\tif strings.Contains(stacks, place+\" \") || strings.Contains(stacks, place+\"\\n\") {{\n\
                 \t\t\tstraitFail(\"a goroutine is still at \" + place)\n\t\t}}\n\t}}\n",
                places.join(", ")
            );
        }
        text + "}\n"
    }

    fn bubble(&self, name: &str) -> String {
        let (test, limit) = (self.test, go_duration(LIMIT));
        let comment = self.comment(name);
        format!(
            "{comment}// The bubble reports goroutines that wait for each other or stay blocked.\n\
             func {name}(t *testing.T) {{\n\
             \t// A goroutine that waits for a lock stops the clock of the bubble, but not this one.\n\
             \twatch := time.AfterFunc({limit}, func() {{ straitFail(\"{test} does not end\") }})\n\
             \tdefer watch.Stop()\n\
             \tsynctest.Test(t, func(t *testing.T) {{ {test}(t) }})\n}}\n"
        )
    }
}

fn stacks() -> String {
    format!(
        "\n// straitFail ends the process with the stacks of all goroutines.\n\
         func straitFail(why string) {{\n\
         \tos.Stderr.WriteString(\"{MARK}: \" + why + \"\\n\" + straitStacks())\n\
         \tos.Exit(1)\n}}\n\n\
         func straitStacks() string {{\n\
         \tstacks := make([]byte, 1<<20)\n\
         \treturn string(stacks[:runtime.Stack(stacks, true)])\n}}\n"
    )
}

/// Gates that the environment opens and closes, for the search. The number of a gate is that of its statement.
pub(crate) fn switched_gates(package: &str) -> String {
    format!(
        r#"package {package}

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

type straitWait struct {{
	first bool
	wait  time.Duration
	used  atomic.Bool
}}

var straitWaits = func() map[int]*straitWait {{
	waits := map[int]*straitWait{{}}
	for _, gate := range strings.Split(os.Getenv("{VARIABLE}"), ",") {{
		parts := strings.Split(gate, ":")
		if len(parts) != 3 {{
			continue
		}}
		number, _ := strconv.Atoi(parts[0])
		wait, _ := strconv.Atoi(parts[2])
		waits[number] = &straitWait{{first: parts[1] == "first", wait: time.Duration(wait) * time.Millisecond}}
	}}
	return waits
}}()

func straitGate(number int) {{
	wait := straitWaits[number]
	if wait == nil || (wait.first && wait.used.Swap(true)) {{
		return
	}}
	time.Sleep(wait.wait)
}}
"#
    )
}

/// The variable that says which gates are closed, for the search.
pub(crate) const VARIABLE: &str = "STRAIT_GATES";

/// A gate of a standalone test: its number, who waits and how long.
pub(crate) type NumberedGate = (usize, Waits, Duration);

/// The gates of a standalone test.
pub(crate) fn fixed_gates(package: &str, gates: &[NumberedGate]) -> String {
    let has_first = gates.iter().any(|(_, who, _)| *who == Waits::First);
    let atomic = if has_first { "\t\"sync/atomic\"\n" } else { "" };
    let mut text = format!("package {package}\n\nimport (\n{atomic}\t\"time\"\n)\n");
    for (number, who, wait) in gates {
        let wait = go_duration(*wait);
        text += &match who {
            Waits::All => format!(
                "\n// straitGate{number} makes every goroutine wait that comes by.\n\
                 func straitGate{number}() {{ time.Sleep({wait}) }}\n"
            ),
            Waits::First => format!(
                "\nvar straitUsed{number} atomic.Bool\n\n\
                 // straitGate{number} makes the first goroutine wait that comes by.\n\
                 func straitGate{number}() {{\n\
                 \tif !straitUsed{number}.Swap(true) {{\n\t\ttime.Sleep({wait})\n\t}}\n}}\n"
            ),
        };
    }
    text
}

/// A duration as Go source.
fn go_duration(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 3_600_000 == 0 => format!("{} * time.Hour", millis / 3_600_000),
        millis if millis % 1000 == 0 => format!("{} * time.Second", millis / 1000),
        millis => format!("{millis} * time.Millisecond"),
    }
}
