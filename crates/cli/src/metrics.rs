//! `--metrics ADDRESS`: what this process does at a queue, as text for Prometheus over plain HTTP, at the path
//! `/metrics`.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use anyhow::Context;
use strait_queue::{Link, Totals};

use crate::http::{self, Answer, Audience};

/// What a process is to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It began the campaign.
    Submitter,
    /// It works for campaigns.
    Worker,
}

/// Takes the address, if one is wanted.
pub fn listen(address: Option<&str>) -> anyhow::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address);
    let why = || format!("cannot serve metrics at {address}; it has to be HOST:PORT and free");
    listener.map(Some).with_context(why)
}

/// Answers requests there until the process ends.
pub fn serve(listener: Option<TcpListener>, role: Role, link: &Link) -> anyhow::Result<()> {
    let Some(listener) = listener else { return Ok(()) };
    let (link, begun) = (link.clone(), Instant::now());
    let answers = move |path: &str| {
        if path != "/metrics" {
            return None;
        }
        let is_stuck = link.trouble().is_some();
        let is_working = link.activity().campaign().is_some();
        let body = page(role, link.activity().totals(), begun.elapsed(), is_working, is_stuck);
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        Some(Answer { content_type, policy: "default-src 'none'".to_owned(), body })
    };
    Ok(http::serve(listener, Audience::Everyone, "metrics", Box::new(answers))?)
}

/// The metrics as text.
fn page(role: Role, totals: Totals, uptime: Duration, is_working: bool, is_stuck: bool) -> String {
    let role_name = match role {
        Role::Submitter => "submitter",
        Role::Worker => "worker",
    };
    let mut text = format!(
        "# HELP strait_info The version of Strait and what this process does.\n\
         # TYPE strait_info gauge\n\
         strait_info{{version=\"{}\",role=\"{role_name}\"}} 1\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut add = |name: &str, kind: &str, help: &str, value: f64| {
        // Writing into a text cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
    };
    let (counter, gauge) = ("counter", "gauge");
    add("strait_uptime_seconds", gauge, "Time since this process began.", uptime.as_secs_f64());
    let done = [
        ("strait_items_done_total", "Pieces of work that are done.", totals.items),
        ("strait_programs_total", "Programs that ran in them.", totals.programs),
        ("strait_runs_total", "Runs that these programs had.", totals.runs),
    ];
    for (name, help, value) in done {
        add(name, counter, help, value as f64);
    }
    let flag = |is: bool| f64::from(u8::from(is));
    match role {
        Role::Worker => {
            add("strait_working", gauge, "1 while the worker is at a campaign.", flag(is_working));
            let help = "1 while the queue does not take results.";
            add("strait_results_stuck", gauge, help, flag(is_stuck));
        }
        Role::Submitter => {
            let counts = [
                (
                    "strait_items_given_out_total",
                    "Pieces of work that were given out.",
                    totals.given_out,
                ),
                (
                    "strait_items_given_again_total",
                    "Pieces of work that were lost and given out again.",
                    totals.given_again,
                ),
                (
                    "strait_dead_letters_total",
                    "Queue messages that were set aside.",
                    totals.dead_letters,
                ),
                ("strait_workers_lost_total", "Workers that were lost.", totals.workers_lost),
            ];
            for (name, help, value) in counts {
                add(name, counter, help, value as f64);
            }
            let help = "Pieces of work that are given out and not done.";
            add("strait_items_under_way", gauge, help, totals.under_way as f64);
            add("strait_workers", gauge, "Workers of the campaign.", totals.workers as f64);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(2);

    #[test]
    fn each_role_has_its_metrics() {
        let totals = Totals { items: 3, programs: 700, workers: 2, ..Totals::default() };
        let worker = page(Role::Worker, totals, LIMIT, true, false);
        let submitter = page(Role::Submitter, totals, LIMIT, false, false);
        for (page, line) in [
            (&worker, "strait_programs_total 700"),
            (&worker, "strait_working 1"),
            (&worker, "strait_results_stuck 0"),
            (&submitter, "strait_items_done_total 3"),
            (&submitter, "strait_workers 2"),
        ] {
            assert!(page.lines().any(|one| one == line), "no `{line}` in:\n{page}");
        }
        assert!(!worker.contains("strait_workers "), "{worker}");
    }
}
