//! Executions to exhaustion and executions per second beside traceforge, which cannot be linked together
//! with loom.
//!
//! Its threads send messages; its atomics and locks are threads that answer messages. So there are
//! the programs of the other bench, and one made of messages: a server keeps a counter, each client
//! asks for it and sends it back plus one. `cargo bench -p strait --bench messages` prints a table.
#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench that gets nothing should stop")]

#[macro_use]
mod common;

use common::{Measured, cpu, show};

mod ours {
    use std::sync::Arc;
    use strait::sync::atomic::{AtomicUsize, Ordering};
    use strait::sync::{Mutex, mpsc};
    use strait::thread;
    programs!(lock.unwrap());

    enum Request {
        Load(mpsc::Sender<u64>),
        Store(u64),
    }

    pub fn server(clients: usize) {
        let (server, requests) = mpsc::channel();
        let start = |_| {
            let server = server.clone();
            thread::spawn(move || {
                let (answer, answers) = mpsc::channel();
                server.send(Request::Load(answer)).unwrap();
                let value = answers.recv().unwrap();
                server.send(Request::Store(value + 1)).unwrap();
            })
        };
        let handles: Vec<_> = (0..clients).map(start).collect();
        let mut counter = 0;
        for _ in 0..2 * clients {
            match requests.recv().unwrap() {
                Request::Load(answer) => answer.send(counter).unwrap(),
                Request::Store(value) => counter = value,
            }
        }
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}

mod forged {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use traceforge::sync::Mutex;
    use traceforge::sync::atomic::AtomicUsize;
    use traceforge::thread;
    programs!(blocking_lock);

    #[derive(Clone, Debug, PartialEq)]
    enum Message {
        Load(thread::ThreadId),
        Store(u64),
    }

    pub fn server(clients: usize) {
        let server = thread::current().id();
        let start = |_| {
            thread::spawn(move || {
                let me = thread::current().id();
                traceforge::send_msg(server, Message::Load(me));
                let value: u64 = traceforge::recv_msg_block();
                traceforge::send_msg(server, Message::Store(value + 1));
            })
        };
        let handles: Vec<_> = (0..clients).map(start).collect();
        let mut counter = 0;
        for _ in 0..2 * clients {
            match traceforge::recv_msg_block() {
                Message::Load(client) => traceforge::send_msg(client, counter),
                Message::Store(value) => counter = value,
            }
        }
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}

/// Searches again and again for a while, so that the clock can tell, but at most so many times:
/// traceforge keeps memory of each search until the system has no more of it.
fn measure(most: u32, mut search: impl FnMut() -> u64) -> (u64, Measured) {
    let once = search();
    let (mut executions, mut searches, start) = (0, 0, cpu());
    while cpu() - start < 200_000_000 && searches < most {
        executions += search();
        searches += 1;
    }
    (once, Measured { executions, nanoseconds: cpu() - start, complete: true })
}

fn cell((once, measured): (u64, Measured)) -> String {
    let rate = show(&measured);
    format!("{once} {}", rate.split_once(' ').map_or("", |(_, rate)| rate))
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("server(2): {} executions", strait::outcomes(|| ours::server(2)).executions);
        return;
    }
    type Program = fn(usize);
    let rows: [(&str, [Program; 2], &[usize]); 5] = [
        ("lost", [ours::lost, forged::lost], &[2, 3, 4]),
        ("store buffering, SeqCst", [ours::store_buffering, forged::store_buffering], &[0]),
        ("indep", [ours::indep, forged::indep], &[2, 3, 4]),
        ("ordered philosophers", [ours::philosophers, forged::philosophers], &[2, 3]),
        ("server", [ours::server, forged::server], &[2, 3]),
    ];
    println!("| program | strait | traceforge |\n|---|---|---|");
    for (name, [ours, theirs], sizes) in rows {
        for &size in sizes {
            let mine = measure(u32::MAX, || strait::outcomes(move || ours(size)).executions);
            // It would print a line for each execution, and that would be counted.
            let config = || traceforge::Config::builder().with_progress_report(usize::MAX).build();
            let verify = || traceforge::verify(config(), move || theirs(size)).execs as u64;
            println!("| {name}({size}) | {} | {} |", cell(mine), cell(measure(400, verify)));
        }
    }
}
