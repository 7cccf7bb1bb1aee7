//! A logger with a thread of its own: messages go through a channel, and stopping answers with
//! everything that was logged before.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::sync::Arc;

use strait::mvar::MVar;
use strait::thread;

enum Command {
    Message(String),
    Stop(Arc<MVar<Vec<String>>>),
}

/// A logger. All its commands go through one variable, so their order is the order of the log.
pub struct Logger {
    command: Arc<MVar<Command>>,
}

impl Logger {
    /// Starts the thread.
    pub fn new() -> Self {
        let command = Arc::new(MVar::empty());
        let theirs: Arc<MVar<Command>> = command.clone();
        thread::spawn(move || {
            let mut lines = Vec::new();
            loop {
                match theirs.take() {
                    Command::Message(line) => lines.push(line),
                    Command::Stop(answer) => {
                        answer.put(lines);
                        return;
                    }
                }
            }
        });
        Logger { command }
    }

    /// Logs a line.
    pub fn log(&self, line: &str) {
        self.command.put(Command::Message(line.to_owned()));
    }

    /// Stops the logger; gives its lines.
    pub fn stop(&self) -> Vec<String> {
        let answer = Arc::new(MVar::empty());
        self.command.put(Command::Stop(answer.clone()));
        answer.take()
    }
}

impl Default for Logger {
    fn default() -> Self {
        Logger::new()
    }
}

fn main() {
    let two = || {
        let logger = Logger::new();
        logger.log("one");
        logger.log("two");
        logger.stop()
    };
    println!("{}", strait::outcomes(two));
}

#[cfg(test)]
mod tests {
    use super::Logger;
    use std::sync::Arc;
    use strait::{Builder, gives, thread};

    #[test]
    fn one_writer_is_logged_in_order() {
        strait::autocheck(|| {
            let logger = Logger::new();
            logger.log("one");
            logger.log("two");
            logger.stop()
        });
    }

    #[test]
    fn two_writers_are_logged_in_either_order() {
        let program = || {
            let logger = Arc::new(Logger::new());
            let theirs = logger.clone();
            let other = thread::spawn(move || theirs.log("theirs"));
            logger.log("mine");
            other.join().expect("no panics");
            logger.stop().join(" ")
        };
        let expected = ["mine theirs".to_owned(), "theirs mine".to_owned()];
        assert!(Builder::new().test(program, &[gives(expected)])[0].holds());
    }
}
