//! One test run in one way, and the table of all of them.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// Every execution that it asks for was performed; says whether these are all there are.
    Passed { exhaustive: bool },
    /// It found something wrong, or the process died.
    Failed,
    /// It was still running when its time was over.
    Late,
}

/// One test run in one way.
pub struct Cell {
    end: End,
    executions: Option<u64>,
    seconds: f64,
}

impl Cell {
    /// Runs a test of a test program in a process of its own.
    pub fn measure(
        program: &Path,
        test: &str,
        variables: &[(&str, &str)],
        limit: Duration,
        folder: &Path,
    ) -> Result<Cell, String> {
        let said = folder.join("output.txt");
        let explain = |error: std::io::Error| format!("{}: {error}", program.display());
        let output = std::fs::File::create(&said).map_err(explain)?;
        let errors = output.try_clone().map_err(explain)?;
        let mut command = Command::new(program);
        command.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
        command.env("LOOM_LOG", "info").envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let started = Instant::now();
        let mut child = command.spawn().map_err(explain)?;
        let end = loop {
            if let Some(status) = child.try_wait().map_err(explain)? {
                break if status.success() {
                    End::Passed { exhaustive: false }
                } else {
                    End::Failed
                };
            }
            if started.elapsed() >= limit {
                child.kill().and_then(|()| child.wait()).map_err(explain)?;
                break End::Late;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let seconds = started.elapsed().as_secs_f64();
        let text = std::fs::read(&said).map_err(explain)?;
        let text = String::from_utf8_lossy(&text);
        let bounded = variables.iter().any(|(name, _)| *name == "LOOM_MAX_PREEMPTIONS");
        let end = match end {
            End::Passed { .. } => End::Passed { exhaustive: is_exhaustive(&text, bounded) },
            end => end,
        };
        Ok(Cell { end, executions: executions(&text), seconds })
    }

    /// Did the test find something wrong?
    pub fn failed(&self) -> bool {
        self.end == End::Failed
    }

    fn passed(&self) -> bool {
        matches!(self.end, End::Passed { .. })
    }
}

/// How many executions a test has performed, by its own words: `strait: NAME: N executions, …` or
/// `Completed in N iterations`. A test with several models has several such lines.
fn executions(text: &str) -> Option<u64> {
    let numbers = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| {
            matches!(word.trim_end_matches(','), "executions" | "execution" | "iterations")
        })?;
        words.get(place.checked_sub(1)?)?.parse::<u64>().ok()
    });
    numbers.reduce(|sum, number| sum + number)
}

/// Has each model of the test seen every schedule? loom says nothing about it, but is told of bounds by the
/// environment or by the test.
fn is_exhaustive(text: &str, bounded: bool) -> bool {
    let mut lines = text.lines().filter(|line| line.starts_with("strait: ")).peekable();
    match lines.peek() {
        Some(_) => lines.all(|line| line.contains(", exhaustive")),
        None => !bounded,
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let executions =
            self.executions.map_or_else(|| "-".to_owned(), |number| number.to_string());
        match self.end {
            End::Passed { exhaustive: true } => {
                write!(formatter, "{executions} | {:.2}", self.seconds)
            }
            End::Passed { exhaustive: false } => {
                write!(formatter, "{executions} (bounded) | {:.2}", self.seconds)
            }
            End::Failed => write!(formatter, "failed | {:.2}", self.seconds),
            End::Late => write!(formatter, "- | over {:.0}", self.seconds.floor()),
        }
    }
}

/// The tests of a crate in several ways.
pub struct Table {
    ways: Vec<&'static str>,
    rows: Vec<(String, Vec<Cell>)>,
}

impl Table {
    /// A table without rows.
    pub fn new(ways: Vec<&'static str>) -> Self {
        Table { ways, rows: Vec::new() }
    }

    /// Adds a test.
    pub fn add(&mut self, test: String, cells: Vec<Cell>) {
        self.rows.push((test, cells));
    }

    /// The tests that failed over strait although they hold.
    pub fn failures(&self) -> Vec<String> {
        let failed = |(test, cells): &(String, Vec<Cell>)| {
            let ways: Vec<&str> = self
                .ways
                .iter()
                .zip(cells)
                .filter(|(_, cell)| cell.failed())
                .map(|(way, _)| *way)
                .collect();
            (!ways.is_empty()).then(|| format!("{test} fails: {}", ways.join(", ")))
        };
        self.rows.iter().filter_map(failed).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "| test |")?;
        for way in &self.ways {
            write!(formatter, " {way}: executions | seconds |")?;
        }
        writeln!(formatter, "\n|---|{}", "---|---|".repeat(self.ways.len()))?;
        for (test, cells) in &self.rows {
            write!(formatter, "| {test} |")?;
            for cell in cells {
                write!(formatter, " {cell} |")?;
            }
            writeln!(formatter)?;
        }
        write!(formatter, "| finished, of {} |", self.rows.len())?;
        for (index, _) in self.ways.iter().enumerate() {
            let column = || self.rows.iter().filter_map(|(_, cells)| cells.get(index));
            let finished = column().filter(|cell| cell.passed()).count();
            let seconds: f64 = column().map(|cell| cell.seconds).sum();
            write!(formatter, " {finished} | {seconds:.1} |")?;
        }
        writeln!(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_say_how_much_they_have_done() {
        let strait =
            "strait: a: 12 executions, exhaustive\nstrait: a: 3 executions, bounded by x\n";
        assert_eq!((executions(strait), is_exhaustive(strait, false)), (Some(15), false));
        let loom = " INFO iter{message=9}: loom::model: Completed in 8 iterations\n";
        assert_eq!((executions(loom), is_exhaustive(loom, false)), (Some(8), true));
        assert_eq!((executions("running 1 test"), is_exhaustive("", true)), (None, false));
    }

    #[test]
    fn a_table_counts_what_finished() {
        let cell = |end| Cell { end, executions: Some(4), seconds: 1.0 };
        let mut table = Table::new(vec!["sc"]);
        table.add("a".into(), vec![cell(End::Passed { exhaustive: true })]);
        table.add("b".into(), vec![cell(End::Late)]);
        table.add("c".into(), vec![cell(End::Failed)]);
        assert!(table.to_string().ends_with("| finished, of 3 | 1 | 3.0 |\n"), "{table}");
        assert_eq!(table.failures(), ["c fails: sc"]);
    }
}
