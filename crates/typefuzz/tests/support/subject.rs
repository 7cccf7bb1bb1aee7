//! What the tests start: the supervisor that oracles run below, and a compiler that misbehaves at
//! programs which say so. It takes the arguments of rustc and understands none of them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a compiler prints what it thinks")]
#![expect(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because what it starts has to be ended with it"
)]

use std::io::Write;
use std::process::{Command, ExitCode};

use strait_toolchain::{Entry, entry};

fn main() -> ExitCode {
    match entry(std::env::args_os()) {
        Entry::Done(code) => return code,
        Entry::Worker(_) => return ExitCode::from(2),
        Entry::Person => {}
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--version") {
        println!("rustc 1.95.0 (a stand-in)");
        return ExitCode::SUCCESS;
    }
    let text = arguments.first().and_then(|path| std::fs::read_to_string(path).ok());
    let mut text = text.unwrap_or_default();
    // Programs that know nothing of us misbehave too, if one of their words is to blame.
    for word in arguments.iter().filter_map(|argument| argument.strip_prefix("--hungry-at=")) {
        text = text.replace(word, "hungry");
    }
    for word in arguments.iter().filter_map(|argument| argument.strip_prefix("--slow-at=")) {
        text = text.replace(word, "slow");
    }
    misbehave(&text)
}

/// Uses processor time, a few tenths of a second whatever else the machine does.
fn burn() {
    for number in 0..400_000_000_u64 {
        std::hint::black_box(number);
    }
}

fn misbehave(text: &str) -> ExitCode {
    if let Some(seconds) = text.split("hangs_").nth(1) {
        let digits: String = seconds.chars().take_while(char::is_ascii_digit).collect();
        // Somebody else is to be ended too.
        if let Ok(mut child) = Command::new("sleep").arg(&digits).spawn() {
            let _ = child.wait();
        }
    }
    if text.contains("slow") {
        burn();
    }
    if text.contains("hungry") {
        // More than is allowed, and nothing that this machine has to have.
        let eaten: Vec<u8> = Vec::with_capacity(100 << 30);
        println!("{}", eaten.capacity());
    }
    if text.contains("greedy") {
        let piece = vec![b'x'; 1 << 20];
        if let Ok(mut file) = std::fs::File::create("programs.rmeta") {
            for _ in 0..100 {
                if file.write_all(&piece).is_err() {
                    return ExitCode::from(1);
                }
            }
        }
    }
    if text.contains("talkative") {
        let line = format!("{}\n", "word ".repeat(200));
        for _ in 0..(100 << 20) / line.len() {
            eprint!("{line}");
        }
    }
    let mut code = ExitCode::SUCCESS;
    for (number, _) in text.lines().enumerate().filter(|(_, line)| line.contains("rejected")) {
        let place = number + 1;
        eprintln!(
            r#"{{"level":"error","message":"no","code":{{"code":"E0308"}},"rendered":"no","spans":[{{"file_name":"programs.rs","line_start":{place},"is_primary":true}}],"children":[]}}"#
        );
        code = ExitCode::from(1);
    }
    code
}
