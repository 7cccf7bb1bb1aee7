//! A snapshot as lines of text, as many and as long as the terminal has room for. What matters most stands
//! first; tables that do not fit say how many rows are missing.

use std::time::Duration;

use crate::live::snapshot::{CampaignState, Snapshot};
use crate::progress::duration;
use crate::segments::{self, Segment, shortened};
use crate::ui::grouped;

/// Codes of colours.
const BOLD: &str = "1";
const RED: &str = "31";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// A line in at most one colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub paint: Option<&'static str>,
}

/// A part of the picture: its heading and its rows.
struct Section {
    heading: Line,
    rows: Vec<Line>,
}

/// The picture: exactly so many lines, each of at most so many columns.
pub fn lines(snapshot: &Snapshot, page: Option<&str>, columns: usize, rows: usize) -> Vec<Line> {
    let mut lines = head(snapshot, columns);
    let foot = foot(snapshot, page, columns);
    let sections = [
        findings(snapshot, columns),
        confirmations(snapshot, columns),
        targets(snapshot, columns),
        workers(snapshot, columns),
    ];
    let room = rows.saturating_sub(lines.len() + 1);
    lines.extend(fitted(sections.into_iter().flatten().collect(), room));
    lines.truncate(rows.saturating_sub(1));
    lines.resize(rows.saturating_sub(1), Line::default());
    if rows > 0 {
        lines.push(foot);
    }
    for line in &mut lines {
        line.text = shortened(&line.text, columns);
    }
    lines
}

/// Sections in this many lines: each has its heading and a row, and the others go round.
fn fitted(sections: Vec<Section>, room: usize) -> Vec<Line> {
    const LEAST: usize = 2;
    let count = sections.len();
    let mut shown: Vec<usize> = sections.iter().map(|section| section.rows.len().min(1)).collect();
    let mut left = room.saturating_sub(count * LEAST);
    loop {
        let mut is_full = true;
        for (number, section) in sections.iter().enumerate() {
            if left > 0 && shown[number] < section.rows.len() {
                shown[number] += 1;
                left -= 1;
                is_full = false;
            }
        }
        if is_full {
            break;
        }
    }
    // Empty lines only where nothing is lost by them.
    let is_airy = left >= count;
    let mut lines = Vec::new();
    for (section, shown) in sections.into_iter().zip(shown) {
        if is_airy {
            lines.push(Line::default());
        }
        let missing = section.rows.len() - shown;
        let mut heading = section.heading;
        if missing > 0 {
            heading.text += &format!("  (and {missing} more)");
        }
        lines.push(heading);
        lines.extend(section.rows.into_iter().take(shown));
    }
    lines
}

fn plain(text: String) -> Line {
    Line { text, paint: None }
}

fn painted(paint: &'static str, text: String) -> Line {
    Line { text, paint: Some(paint) }
}

fn time(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// `1,234`, and `0.5` where a whole number says nothing.
fn rate(rate: f64) -> String {
    if rate >= 10.0 || rate <= 0.0 { grouped(rate as u64) } else { format!("{rate:.1}") }
}

/// `345 MiB`
fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 10.0 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

fn head(snapshot: &Snapshot, columns: usize) -> Vec<Line> {
    let state = match snapshot.state {
        CampaignState::Preparing => "preparing",
        CampaignState::Running => "running",
        CampaignState::Stopping => "stopping",
        CampaignState::Ended => "ended",
    };
    let mut title = vec![
        Segment::new(0, format!("{}: {state}", snapshot.command)),
        Segment::new(1, time(snapshot.elapsed)),
    ];
    title.extend(snapshot.left.map(|left| Segment::new(0, format!("{} left", time(left)))));
    let mut lines = vec![painted(BOLD, segments::line(title, Some(columns)))];
    if let Some(progress) = snapshot.progress {
        lines.push(plain(bar(progress, columns)));
    }
    let mut done: Vec<Segment> =
        (2..).zip(&snapshot.done).map(|(rank, text)| Segment::new(rank, text)).collect();
    done.push(Segment::new(1, format!("{} {} per second", rate(snapshot.rate_now), snapshot.unit)));
    done.push(Segment::new(5, format!("{} on average", rate(snapshot.rate))));
    lines.push(plain(segments::line(done, Some(columns))));
    lines.push(news(snapshot, columns));
    if let Some(queue) = &snapshot.queue {
        let parts = vec![
            Segment::new(0, format!("queue: {} under way", grouped(queue.under_way))),
            Segment::new(3, format!("{} given out", grouped(queue.given_out))),
            Segment::new(2, format!("{} given again", grouped(queue.given_again))),
            Segment::new(1, format!("{} dead letters", grouped(queue.dead_letters))),
        ];
        lines.push(plain(segments::line(parts, Some(columns))));
    }
    lines
}

/// Findings and memory in a line.
fn news(snapshot: &Snapshot, columns: usize) -> Line {
    let noun = if snapshot.new_findings == 1 { "new finding" } else { "new findings" };
    let mut parts = vec![Segment::new(0, format!("{} {noun}", grouped(snapshot.new_findings)))];
    if let Some(last) = snapshot.findings.first() {
        parts.push(Segment::new(1, format!("the last {} ago", time(last.ago))));
    }
    if snapshot.known_findings > 0 {
        parts.push(Segment::new(3, format!("{} from before", grouped(snapshot.known_findings))));
    }
    parts
        .extend(snapshot.memory.map(|memory| Segment::new(2, format!("memory {}", bytes(memory)))));
    let text = segments::line(parts, Some(columns));
    if snapshot.new_findings > 0 { painted(RED, text) } else { plain(text) }
}

/// `██████░░░░  42 %`
fn bar(progress: f64, columns: usize) -> String {
    let width = columns.saturating_sub(6).clamp(1, 60);
    let progress = progress.clamp(0.0, 1.0);
    let full = (progress * width as f64) as usize;
    format!("{}{} {:3.0} %", "█".repeat(full), "░".repeat(width - full), progress * 100.0)
}

fn foot(snapshot: &Snapshot, page: Option<&str>, columns: usize) -> Line {
    let keys = match snapshot.state {
        CampaignState::Stopping => "stopping; Ctrl-C stops at once",
        _ => "q or Ctrl-C stops the campaign",
    };
    let mut parts = vec![Segment::new(0, keys)];
    parts.push(Segment::new(1, format!("findings in {}", snapshot.folder)));
    parts.extend(page.map(|page| Segment::new(0, page)));
    painted(DIM, segments::line(parts, Some(columns)))
}

fn findings(snapshot: &Snapshot, columns: usize) -> Option<Section> {
    let row = |finding: &super::snapshot::FindingRow| {
        let ago = format!("{} ago", time(finding.ago));
        let space = columns.saturating_sub(ago.chars().count() + 4);
        let title = shortened(&format!("{} {}", finding.kind, finding.title), space);
        painted(RED, format!("  {title:<space$}  {ago}"))
    };
    let rows: Vec<Line> = snapshot.findings.iter().map(row).collect();
    let heading = painted(BOLD, "Last findings".to_owned());
    (!rows.is_empty()).then_some(Section { heading, rows })
}

fn confirmations(snapshot: &Snapshot, columns: usize) -> Option<Section> {
    let row = |one: &super::snapshot::ConfirmationRow| {
        let state = match one.seconds {
            Some(seconds) => format!("for {}", time(seconds)),
            None => "waits".to_owned(),
        };
        let space = columns.saturating_sub(state.chars().count() + 4);
        let what = shortened(&format!("{} {}", one.target, one.what), space);
        painted(YELLOW, format!("  {what:<space$}  {state}"))
    };
    let rows: Vec<Line> = snapshot.confirmations.iter().map(row).collect();
    let heading = painted(BOLD, "Being confirmed".to_owned());
    (!rows.is_empty()).then_some(Section { heading, rows })
}

fn targets(snapshot: &Snapshot, columns: usize) -> Option<Section> {
    const NUMBERS: usize = 2 + 12 + 12 + 10;
    let space = columns.saturating_sub(NUMBERS).max(8);
    let heading = format!(
        "{:<width$}{:>12}{:>12}{:>10}",
        "Targets",
        snapshot.target_unit,
        "per second",
        "findings",
        width = space + 2
    );
    let row = |target: &super::snapshot::TargetRow| {
        let name = shortened(&format!("{} {}", target.target, target.version), space);
        let (done, rate) = (grouped(target.done), rate(target.rate_now));
        let text = format!("  {name:<space$}{done:>12}{rate:>12}{:>10}", grouped(target.findings));
        if target.findings > 0 { painted(RED, text) } else { plain(text) }
    };
    let rows: Vec<Line> = snapshot.targets.iter().map(row).collect();
    (!rows.is_empty()).then_some(Section { heading: painted(BOLD, heading), rows })
}

fn workers(snapshot: &Snapshot, columns: usize) -> Option<Section> {
    let longest = snapshot.workers.iter().map(|worker| worker.name.chars().count()).max()?;
    let name_width = longest.min(columns / 3);
    let row = |worker: &super::snapshot::WorkerRow| {
        let since = time(worker.seconds);
        let space = columns.saturating_sub(name_width + since.chars().count() + 18);
        let what = shortened(&worker.what, space);
        let name = shortened(&worker.name, name_width);
        let text = format!("  {name:>name_width$}  {:<10}  {what:<space$}  {since}", worker.state);
        if worker.state == "lost" { painted(YELLOW, text) } else { plain(text) }
    };
    let rows = snapshot.workers.iter().map(row).collect();
    Some(Section { heading: painted(BOLD, "Workers".to_owned()), rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::snapshot::{ConfirmationRow, FindingRow, QueueRow, TargetRow, WorkerRow};

    fn snapshot() -> Snapshot {
        let target = |name: &str, done, findings| TargetRow {
            target: name.to_owned(),
            version: "1.2.3".to_owned(),
            done,
            rate_now: 12.5,
            findings,
        };
        let worker = |name: &str, state| WorkerRow {
            name: name.to_owned(),
            state,
            what: "kanal indices 32 to 63".to_owned(),
            seconds: 2.0,
        };
        Snapshot {
            command: "strait fuzz",
            folder: "strait-out".to_owned(),
            state: CampaignState::Running,
            elapsed: 65.0,
            left: Some(55.0),
            progress: Some(0.5),
            done: vec!["12,345 programs".to_owned(), "67,890 runs".to_owned()],
            unit: "programs",
            target_unit: "programs",
            rate: 190.0,
            rate_now: 1234.0,
            new_findings: 3,
            known_findings: 1,
            findings: vec![FindingRow {
                kind: "hang".to_owned(),
                title: "kanal: a receiver sleeps".to_owned(),
                ago: 12.0,
                ..FindingRow::default()
            }],
            targets: vec![target("kanal", 12_000, 3), target("std", 345, 0)],
            workers: vec![worker("1", "running"), worker("2", "waiting")],
            confirmations: vec![
                ConfirmationRow {
                    target: "kanal".to_owned(),
                    what: "program 17".to_owned(),
                    seconds: Some(3.0),
                },
                ConfirmationRow { what: "program 18".to_owned(), ..ConfirmationRow::default() },
            ],
            memory: Some(345 << 20),
            ..Snapshot::default()
        }
    }

    fn shown(snapshot: &Snapshot, columns: usize, rows: usize) -> String {
        let lines = lines(snapshot, Some("http://127.0.0.1:8080/"), columns, rows);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.trim_end()).collect();
        texts.join("\n")
    }

    #[test]
    fn the_picture_at_80_columns() {
        let expected = "\
strait fuzz: running, 1 min 05 s, 55 s left
██████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  50 %
12,345 programs, 67,890 runs, 1,234 programs per second, 190 on average
3 new findings, the last 12 s ago, 1 from before, memory 345 MiB

Last findings
  hang kanal: a receiver sleeps                                       12 s ago

Being confirmed
  kanal program 17                                                     for 3 s
   program 18                                                            waits

Targets                                         programs  per second  findings
  kanal 1.2.3                                     12,000          12         3
  std 1.2.3                                          345          12         0

Workers
  1  running     kanal indices 32 to 63                                    2 s
  2  waiting     kanal indices 32 to 63                                    2 s




q or Ctrl-C stops the campaign, findings in strait-out, http://127.0.0.1:8080/";
        assert_eq!(shown(&snapshot(), 78, 24), expected);
    }

    #[test]
    fn a_small_terminal_says_what_is_missing() {
        let mut snapshot = snapshot();
        let target = snapshot.targets[1].clone();
        snapshot.targets.extend(std::iter::repeat_n(target, 40));
        snapshot.state = CampaignState::Stopping;
        let picture = shown(&snapshot, 60, 16);
        assert!(picture.starts_with("strait fuzz: stopping, 1 min 05 s, 55 s left\n"), "{picture}");
        for heading in ["Last findings", "Being confirmed", "Targets", "Workers"] {
            assert!(picture.contains(heading), "{heading}:\n{picture}");
        }
        assert!(picture.contains("(and 40 more)"), "{picture}");
        assert!(picture.contains("stopping; Ctrl-C stops at once"), "{picture}");
    }

    #[test]
    fn no_picture_is_larger_than_the_terminal() {
        let mut snapshot = snapshot();
        snapshot.queue = Some(QueueRow { given_out: u64::MAX, ..QueueRow::default() });
        snapshot.workers[0].name = "a-very-long-name-of-a-machine".repeat(5);
        snapshot.memory = Some(u64::MAX);
        for columns in 1..100 {
            for rows in 0..40 {
                for snapshot in [&snapshot, &Snapshot::default()] {
                    let lines = lines(snapshot, Some("http://127.0.0.1:8080/"), columns, rows);
                    assert_eq!(lines.len(), rows, "{columns} columns");
                    let is_fit = |line: &Line| line.text.chars().count() <= columns;
                    assert!(lines.iter().all(is_fit), "{columns} columns, {rows} rows: {lines:?}");
                }
            }
        }
    }
}
