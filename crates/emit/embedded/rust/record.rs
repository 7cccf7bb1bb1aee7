//! Channels, and the part that remembers what processes saw. Goes before the programs.

use std::fmt::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select};

/// Both ends of a channel. They go together wherever it goes, so that nobody is ever alone with
/// one of them.
pub struct Channel<T> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T> Channel<T> {
    pub fn bounded(capacity: usize) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(capacity);
        Channel { sender, receiver }
    }

    pub fn unbounded() -> Self {
        let (sender, receiver) = crossbeam_channel::unbounded();
        Channel { sender, receiver }
    }

    pub fn send(&self, message: T) {
        assert!(self.sender.send(message).is_ok(), "there are receivers");
    }

    pub fn receive(&self) -> T {
        self.receiver.recv().expect("there are senders")
    }

    pub fn sender(&self) -> &Sender<T> {
        &self.sender
    }

    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Channel { sender: self.sender.clone(), receiver: self.receiver.clone() }
    }
}

/// What can be seen of a value.
pub trait Show {
    fn show(&self) -> String;
}

impl Show for () {
    fn show(&self) -> String {
        "u".into()
    }
}

impl Show for bool {
    fn show(&self) -> String {
        if *self { "t" } else { "f" }.into()
    }
}

impl Show for i64 {
    fn show(&self) -> String {
        self.to_string()
    }
}

impl<T> Show for Channel<T> {
    fn show(&self) -> String {
        "c".into()
    }
}

/// One process: what it has seen, and whether it has finished.
#[derive(Default)]
struct Log {
    name: String,
    seen: String,
    has_ended: bool,
}

/// A run of a program.
#[derive(Default)]
pub struct Run {
    logs: Mutex<Vec<Log>>,
    moved: Condvar,
}

impl Run {
    /// Runs the program and waits for all its processes, as long as some still finish.
    pub fn observe(self: &Arc<Self>, program: fn(&mut Process), patience: Duration) -> bool {
        self.clone().begin("main".into(), program);
        let mut logs = self.logs.lock().unwrap();
        let mut since = (Instant::now(), 0);
        loop {
            let ended = logs.iter().filter(|log| log.has_ended).count();
            if ended == logs.len() {
                return true;
            }
            if ended != since.1 {
                since = (Instant::now(), ended);
            } else if since.0.elapsed() > patience {
                return false;
            }
            logs = self.moved.wait_timeout(logs, Duration::from_millis(100)).unwrap().0;
        }
    }

    fn begin(self: Arc<Self>, name: String, body: impl FnOnce(&mut Process) + Send + 'static) {
        let number = {
            let mut logs = self.logs.lock().unwrap();
            logs.push(Log { name: name.clone(), ..Log::default() });
            logs.len() - 1
        };
        std::thread::spawn(move || {
            let mut process = Process { run: self.clone(), number, name, children: 0 };
            body(&mut process);
            self.logs.lock().unwrap()[number].has_ended = true;
            self.moved.notify_all();
        });
    }

    /// What all processes saw, on one line.
    pub fn record(&self) -> String {
        let logs = self.logs.lock().unwrap();
        let is_finished = logs.iter().all(|log| log.has_ended);
        let mut words: Vec<String> = logs
            .iter()
            .filter(|log| !log.seen.is_empty())
            .map(|log| format!("{}={}", log.name, log.seen))
            .collect();
        words.sort();
        words.insert(0, if is_finished { "finished" } else { "unfinished" }.into());
        words.join(" ")
    }

    /// The processes that have not finished.
    pub fn stuck(&self) -> String {
        let logs = self.logs.lock().unwrap();
        logs.iter().filter(|log| !log.has_ended).map(|log| format!(" {}@0", log.name)).collect()
    }
}

/// A process, which alone writes what it sees.
pub struct Process {
    run: Arc<Run>,
    number: usize,
    name: String,
    children: u32,
}

impl Process {
    /// Spawns a process.
    pub fn spawn(&mut self, body: impl FnOnce(&mut Process) + Send + 'static) {
        self.children += 1;
        let name = format!("{}.{}", self.name, self.children);
        self.run.clone().begin(name, body);
    }

    fn saw(&self, event: std::fmt::Arguments<'_>) {
        let seen = &mut self.run.logs.lock().unwrap()[self.number].seen;
        if !seen.is_empty() {
            seen.push(',');
        }
        seen.write_fmt(event).unwrap();
    }

    pub fn got(&self, value: &impl Show) {
        self.saw(format_args!("r{}", value.show()));
    }

    pub fn observed(&self, value: &impl Show) {
        self.saw(format_args!("o{}", value.show()));
    }

    pub fn chose(&self, number: usize) {
        self.saw(format_args!("#{number}"));
    }

    pub fn defaulted(&self) {
        self.saw(format_args!("d"));
    }

    pub fn timed_out(&self) {
        self.saw(format_args!("t"));
    }

    /// A number below `count` that nothing in the program influences.
    pub fn choose(&self, count: u32) -> u32 {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(self.number) as u32 % count
    }
}
