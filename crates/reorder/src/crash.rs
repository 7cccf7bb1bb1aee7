//! What a Go program says when it crashes or when the race detector speaks: text in, crashes out.
//! Lines that look like nothing known are passed over.

use strait_golang::Site;

/// Something a program has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The first line: `send on closed channel`, `concurrent map writes`, `DATA RACE`.
    pub message: String,
    /// Does it come from the runtime or package sync, or from a call of panic in the code?
    pub by_runtime: bool,
    /// Is it a report of the race detector?
    pub race: bool,
    /// The stacks: of the panic, or of both accesses of a race.
    pub stacks: Vec<CrashStack>,
}

impl Crash {
    /// Is it a mistake that needs no second goroutine: a nil pointer, an index, a call of panic?
    pub fn is_sequential(&self) -> bool {
        let plain = ["runtime error:", "assignment to entry in nil map"];
        !self.race && (!self.by_runtime || plain.iter().any(|text| self.message.starts_with(text)))
    }

    /// Did the goroutine that runs a test or an example panic?
    pub fn is_of_test(&self) -> bool {
        let runs_test =
            |site: &Site| ["testing.tRunner", "testing.runExample"].contains(&&*site.function);
        self.stacks.iter().any(|stack| stack.frames.iter().any(runs_test))
    }
}

/// What a stack in such a report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackRole {
    /// Where the program panicked.
    Panic,
    /// A goroutine that reads.
    Read,
    /// A goroutine that writes.
    Write,
}

/// A stack with what is said about its goroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashStack {
    /// What it shows.
    pub role: StackRole,
    /// The number of the goroutine; `main` has none in reports of races.
    pub goroutine: Option<u64>,
    /// From its top.
    pub frames: Vec<Site>,
    /// Where the goroutine was started, from the top.
    pub created: Vec<Site>,
}

/// A stack in the report of a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The number of its goroutine; the scheduler's own stack has none.
    pub goroutine: Option<u64>,
    /// From its top.
    pub stack: Vec<Site>,
}

/// The stacks that follow a fatal error, in their order.
pub(crate) fn sections(lines: &[&str]) -> Vec<Section> {
    let headings = lines.iter().enumerate().filter_map(|(at, line)| {
        if *line == "runtime stack:" {
            return Some((at, None));
        }
        let rest = line.strip_prefix("goroutine ").filter(|_| line.ends_with("]:"))?;
        let number = rest.split_whitespace().next()?.parse().ok()?;
        Some((at, Some(number)))
    });
    headings.map(|(at, goroutine)| Section { goroutine, stack: stack(&lines[at + 1..]) }).collect()
}

/// All crashes in an output.
pub fn crashes(output: &str) -> Vec<Crash> {
    let lines: Vec<&str> = output.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.trim_end() == "WARNING: DATA RACE" {
            found.push(race(&lines[at + 1..]));
        } else if let Some(message) = message(line) {
            // The stack of a fatal error belongs to the first goroutine that runs.
            let rest = &lines[at + 1..];
            let heading = rest.iter().position(|line| {
                line.starts_with("goroutine ") && line.contains("[") && line.ends_with("]:")
            });
            let stack = heading.map(|heading| CrashStack {
                role: StackRole::Panic,
                goroutine: number_after(rest[heading], "goroutine "),
                frames: stack(&rest[heading + 1..]),
                created: creator(&rest[heading + 1..]).into_iter().collect(),
            });
            found.push(Crash {
                by_runtime: is_of_runtime(line, message),
                message: message.to_owned(),
                race: false,
                stacks: stack.into_iter().collect(),
            });
            // What follows belongs to the same crash.
            break;
        }
        at += 1;
    }
    found
}

fn message(line: &str) -> Option<&str> {
    let text = line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: "))?;
    let end = text
        .find(" [recovered")
        .or_else(|| text.find(" [recovered, repanicked"))
        .unwrap_or(text.len());
    Some(text[..end].trim_end())
}

fn is_of_runtime(line: &str, message: &str) -> bool {
    let known = [
        "runtime error:",
        "send on closed channel",
        "close of closed channel",
        "close of nil channel",
        "sync: ",
        "assignment to entry in nil map",
        "Log in goroutine after ",
        "Fail in goroutine after ",
    ];
    line.starts_with("fatal error: ") || known.iter().any(|known| message.starts_with(known))
}

/// Two accesses follow: `Write at 0x… by goroutine 8:` and its stack, `Previous read …`.
fn race(lines: &[&str]) -> Crash {
    let end = lines.iter().position(|line| line.starts_with("======")).unwrap_or(lines.len());
    let mut stacks: Vec<CrashStack> = Vec::new();
    for (at, line) in lines[..end].iter().enumerate() {
        let line = line.trim_start();
        let access = [
            ("Read at ", StackRole::Read),
            ("Write at ", StackRole::Write),
            ("Previous read at ", StackRole::Read),
            ("Previous write at ", StackRole::Write),
            ("Atomic read at ", StackRole::Read),
            ("Atomic write at ", StackRole::Write),
            ("Previous atomic read at ", StackRole::Read),
            ("Previous atomic write at ", StackRole::Write),
        ];
        if let Some((_, role)) = access.iter().find(|(access, _)| line.starts_with(access)) {
            let by = line.find("goroutine ").map(|by| &line[by..]);
            stacks.push(CrashStack {
                role: *role,
                goroutine: by.and_then(|by| number_after(by, "goroutine ")),
                frames: stack(&lines[at + 1..end]),
                created: Vec::new(),
            });
        }
        // `Goroutine 8 (running) created at:` follows the accesses.
        if let Some(number) = number_after(line, "Goroutine ") {
            let created = stack(&lines[at + 1..end]);
            for one in stacks.iter_mut().filter(|one| one.goroutine == Some(number)) {
                one.created.clone_from(&created);
            }
        }
    }
    Crash { message: "data race".to_owned(), by_runtime: true, race: true, stacks }
}

fn number_after(line: &str, word: &str) -> Option<u64> {
    let rest = line.strip_prefix(word)?;
    rest.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok()
}

/// The go statement that a stack ends with: `created by m.f in goroutine 6` and its place.
fn creator(lines: &[&str]) -> Option<Site> {
    let mut lines = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    let by = lines.by_ref().find_map(|line| line.strip_prefix("created by "))?;
    let function = by.split(" in goroutine ").next()?.to_owned();
    let (file, line) = position(lines.next()?)?;
    Some(Site { file, line, function })
}

/// Pairs of lines, `function(arguments)` and `file:line +0x…`, up to the first empty line.
fn stack(lines: &[&str]) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut function = None;
    for line in lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()) {
        match (function.take(), position(line)) {
            (Some(function), Some((file, line))) => {
                sites.push(Site { file, line, function });
            }
            _ if line.starts_with("created by ") => break,
            _ => function = Some(name(line).to_owned()),
        }
    }
    sites
}

/// Without the arguments; receivers have brackets too.
fn name(line: &str) -> &str {
    if line.ends_with(')') {
        line.rfind('(').map_or(line, |bracket| &line[..bracket])
    } else {
        line
    }
}

fn position(line: &str) -> Option<(String, u32)> {
    let place = line.split(" +0x").next()?;
    let (file, number) = place.rsplit_once(':')?;
    let number = number.split_whitespace().next()?.parse().ok()?;
    (file.contains('/') || file.contains('.')).then(|| (file.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(output: &str) -> Vec<String> {
        let tell = |crash: &Crash| {
            let tops: Vec<String> = crash
                .stacks
                .iter()
                .map(|stack| {
                    let tell =
                        |site: &Site| format!("{} {}:{}", site.function, site.file, site.line);
                    let frames: Vec<String> = stack.frames.iter().map(tell).collect();
                    let created: Vec<String> = stack.created.iter().map(tell).collect();
                    let (frames, created) = (frames.join(" < "), created.join(" < "));
                    format!("{:?} {:?} {frames} << {created}", stack.role, stack.goroutine)
                })
                .collect();
            format!("{} {} {}", crash.message, crash.by_runtime, tops.join(" | "))
        };
        crashes(output).iter().map(tell).collect()
    }

    #[test]
    fn panics_fatal_errors_and_races() {
        let table = [
            (
                "x\npanic: send on closed channel [recovered, repanicked]\n\ngoroutine 7 [running]:\nexample.com/m.(*T).f(0x1, {0x2, 0x3})\n\t/w/m/x_test.go:12 +0x1c\ncreated by example.com/m.TestA in goroutine 6\n\t/w/m/x_test.go:9 +0x2\n",
                vec![
                    "send on closed channel true Panic Some(7) example.com/m.(*T).f /w/m/x_test.go:12 << example.com/m.TestA /w/m/x_test.go:9",
                ],
            ),
            (
                "fatal error: concurrent map writes\n\ngoroutine 9 [running]:\nm.g()\n\t/w/m/a.go:3 +0x1\n",
                vec!["concurrent map writes true Panic Some(9) m.g /w/m/a.go:3 << "],
            ),
            (
                "panic: oops\n\ngoroutine 1 [running]:\nm.g(...)\n\t/w/a.go:3\n",
                vec!["oops false Panic Some(1) m.g /w/a.go:3 << "],
            ),
            (
                "==================\nWARNING: DATA RACE\nWrite at 0x00c by goroutine 8:\n  m.TestR.func1()\n      /w/r_test.go:9 +0x30\n\nPrevious read at 0x00c by goroutine 7:\n  m.TestR()\n      /w/r_test.go:11 +0xb6\n\nGoroutine 8 (running) created at:\n  m.TestR()\n      /w/r_test.go:8 +0xae\n==================\n",
                vec![
                    "data race true Write Some(8) m.TestR.func1 /w/r_test.go:9 << m.TestR /w/r_test.go:8 | Read Some(7) m.TestR /w/r_test.go:11 << ",
                ],
            ),
            ("all fine\nPASS\n", vec![]),
            ("panic: ", vec![" false "]),
        ];
        for (output, expected) in table {
            assert_eq!(told(output), expected, "{output}");
        }
    }
}
