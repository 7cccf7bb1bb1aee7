//! `--metrics ADDRESS`: what this process does at a queue, as text for Prometheus over plain HTTP. One
//! thread answers one request after the other; a request may have 8 kB and take two seconds.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::Context;
use strait_queue::{Link, Totals};

/// The most bytes of a request.
const LONGEST: usize = 8 << 10;
/// How long a request or an answer may take.
const LIMIT: Duration = Duration::from_secs(2);

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
    let text = move || {
        let is_stuck = link.trouble().is_some();
        let is_working = link.activity().campaign().is_some();
        page(role, link.activity().totals(), begun.elapsed(), is_working, is_stuck)
    };
    std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // Who asks can ask again.
            let _ = answer(stream, &text);
        }
    })?;
    Ok(())
}

/// Reads one request and answers it.
fn answer(mut stream: TcpStream, text: &dyn Fn() -> String) -> std::io::Result<()> {
    stream.set_write_timeout(Some(LIMIT))?;
    let (status, body) = match request(&mut stream)? {
        Some(Request::Metrics) => ("200 OK", text()),
        Some(Request::Other) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        Some(Request::Method) => ("405 Method Not Allowed", "only GET is answered\n".to_owned()),
        Some(Request::TooLong) => ("431 Request Header Fields Too Large", String::new()),
        None => return Ok(()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Metrics,
    Other,
    Method,
    TooLong,
}

/// Reads a request to the end of its head; `None` if it does not come, or not in time.
fn request(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let deadline = Instant::now() + LIMIT;
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        let length = match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&piece[..length]);
        if head.len() > LONGEST {
            return Ok(Some(Request::TooLong));
        }
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(asked(&head)));
        }
    }
}

/// What the first line of a request asks for.
fn asked(head: &[u8]) -> Request {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    match (method, path) {
        (Some(b"GET"), b"/metrics") => Request::Metrics,
        (Some(b"GET"), _) => Request::Other,
        _ => Request::Method,
    }
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

    /// What a server answers to these bytes.
    fn said(request: &[u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            let text = || page(Role::Worker, Totals::default(), LIMIT, true, false);
            let _ = answer(stream, &text);
        });
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request).expect("it is read");
        let mut said = Vec::new();
        // A request that is too long is answered before it is read to its end.
        let _ = stream.read_to_end(&mut said);
        server.join().expect("it answers");
        String::from_utf8(said).expect("text")
    }

    #[test]
    fn requests_are_answered_within_bounds() {
        let long = [b"GET /metrics HTTP/1.1\r\nX: ".as_slice(), &[b'x'; LONGEST]].concat();
        let table: [(&[u8], &str); 6] = [
            (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK"),
            (b"GET /metrics?x=1 HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK"),
            (b"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
            (&long, "HTTP/1.1 431 Request Header Fields Too Large"),
            // It never ends, and it is not joined.
            (b"GET /metrics", ""),
        ];
        for (request, status) in table {
            let begun = Instant::now();
            let said = said(request);
            assert_eq!(said.lines().next().unwrap_or_default(), status);
            assert!(begun.elapsed() < LIMIT * 5, "{status}");
        }
    }

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
