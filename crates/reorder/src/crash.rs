//! What a Go program says when it crashes or when the race detector speaks: text in, crashes out.
//! Lines that look like nothing known are passed over.

use strait_golang::Site;

/// Something a program has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The first line: `send on closed channel`, `concurrent map writes`, `DATA RACE`.
    pub message: String,
    /// Does it come from the runtime or package sync, or from somebody's call of panic?
    pub by_runtime: bool,
    /// Is it a report of the race detector?
    pub race: bool,
    /// The stacks, each from its top: of the panic, or of both accesses of a race.
    pub stacks: Vec<Vec<Site>>,
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
            let stack = heading.map(|heading| stack(&rest[heading + 1..])).unwrap_or_default();
            found.push(Crash {
                by_runtime: is_of_runtime(line, message),
                message: message.to_owned(),
                race: false,
                stacks: vec![stack],
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
    let mut stacks = Vec::new();
    for (at, line) in lines[..end].iter().enumerate() {
        let line = line.trim_start();
        let access = [
            "Read at ",
            "Write at ",
            "Previous read at ",
            "Previous write at ",
            "Atomic read at ",
            "Atomic write at ",
            "Previous atomic read at ",
            "Previous atomic write at ",
        ];
        if access.iter().any(|access| line.starts_with(access)) {
            stacks.push(stack(&lines[at + 1..end]));
        }
    }
    Crash { message: "data race".to_owned(), by_runtime: true, race: true, stacks }
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
                    let sites = stack
                        .iter()
                        .map(|site| format!("{} {}:{}", site.function, site.file, site.line));
                    sites.collect::<Vec<_>>().join(" < ")
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
                vec!["send on closed channel true example.com/m.(*T).f /w/m/x_test.go:12"],
            ),
            (
                "fatal error: concurrent map writes\n\ngoroutine 9 [running]:\nm.g()\n\t/w/m/a.go:3 +0x1\n",
                vec!["concurrent map writes true m.g /w/m/a.go:3"],
            ),
            (
                "panic: oops\n\ngoroutine 1 [running]:\nm.g(...)\n\t/w/a.go:3\n",
                vec!["oops false m.g /w/a.go:3"],
            ),
            (
                "==================\nWARNING: DATA RACE\nWrite at 0x00c by goroutine 8:\n  m.TestR.func1()\n      /w/r_test.go:9 +0x30\n\nPrevious read at 0x00c by goroutine 7:\n  m.TestR()\n      /w/r_test.go:11 +0xb6\n\nGoroutine 8 (running) created at:\n  m.TestR()\n      /w/r_test.go:8 +0xae\n==================\n",
                vec!["data race true m.TestR.func1 /w/r_test.go:9 | m.TestR /w/r_test.go:11"],
            ),
            ("all fine\nPASS\n", vec![]),
            ("panic: ", vec![" false "]),
        ];
        for (output, expected) in table {
            assert_eq!(told(output), expected, "{output}");
        }
    }
}
