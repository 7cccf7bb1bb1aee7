//! Changes a store at random: its bytes, the values in its JSON files, and what kind of files it has.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::hostile::Machine;

/// A small generator of numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1))
    }

    /// A number below the limit (xorshift64*).
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16;
        (number % limit.max(1) as u64) as usize
    }

    pub fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// One to four changes, and what they were.
pub fn mutate(random: &mut Random, machine: &Machine, names: &[String]) -> Vec<String> {
    let count = 1 + random.below(4);
    (0..count).map(|_| one(random, machine, names)).collect()
}

fn one(random: &mut Random, machine: &Machine, names: &[String]) -> String {
    let sent = machine.path("sent");
    match random.below(6) {
        0 => bytes(random, &sent),
        1 => kind(random, machine),
        2 => extra(random, machine, names),
        _ => values(random, machine),
    }
}

/// All regular files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn bytes(random: &mut Random, sent: &Path) -> String {
    let files = files(sent);
    let path = random.choose(&files);
    let is_long = fs::metadata(path).is_ok_and(|metadata| metadata.len() > 1 << 24);
    let mut bytes = if is_long { Vec::new() } else { fs::read(path).unwrap_or_default() };
    let how = match random.below(4) {
        0 => {
            let keep = random.below(bytes.len() + 1);
            bytes.truncate(keep);
            "cut"
        }
        1 => {
            let place = random.below(bytes.len() + 1);
            let noise: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
            bytes.splice(place..place, noise);
            "noise in"
        }
        2 => {
            let (from, to) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
            let part = bytes[from.min(to)..from.max(to)].to_vec();
            bytes.extend(part);
            "a part twice in"
        }
        _ => {
            for _ in 0..1 + random.below(8) {
                let place = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = random.below(256) as u8;
                }
            }
            "other bytes in"
        }
    };
    let _ = fs::write(path, bytes);
    format!("{how} {}", shown(path, sent))
}

fn shown(path: &Path, sent: &Path) -> String {
    path.strip_prefix(sent).unwrap_or(path).display().to_string()
}

/// Something else where a file was.
fn kind(random: &mut Random, machine: &Machine) -> String {
    let sent = machine.path("sent");
    let files = files(&sent);
    let path = random.choose(&files);
    let shown = shown(path, &sent);
    let _ = fs::remove_file(path);
    match random.below(7) {
        0 => format!("{shown} removed"),
        1 => {
            let _ = mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0);
            format!("{shown} a named pipe")
        }
        2 => {
            let _ = fs::create_dir(path);
            format!("{shown} a folder")
        }
        3 => {
            let _ = File::create(path).and_then(|file| file.set_len(8 << 30));
            format!("{shown} of 8 GiB")
        }
        4 => {
            let _ = std::os::unix::net::UnixListener::bind(path);
            format!("{shown} a socket")
        }
        _ => {
            let to = ["own/secret", "own", "evil", "evil/rustc", "home", "nowhere"];
            let to = *random.choose(&to);
            let to = machine.path(to);
            let _ = std::os::unix::fs::symlink(&to, path);
            format!("{shown} a link to {}", to.display())
        }
    }
}

/// Something beside the files that belong there.
fn extra(random: &mut Random, machine: &Machine, names: &[String]) -> String {
    let sent = machine.path("sent");
    let place = match random.below(3) {
        0 => sent.clone(),
        1 => sent.join("findings"),
        _ => sent.join("findings").join(random.choose(names)),
    };
    let (secret, evil) = (machine.path("own/secret"), machine.path("evil"));
    let settings = format!(
        "[replay]\ntrust = true\noracle = [\"{0}\"]\n[reduce]\ntrust = true\n[types]\noracle = [\"{0}\"]\n",
        evil.join("rustc").display()
    );
    let name = match random.below(9) {
        0 => {
            let _ = fs::write(place.join("rust-toolchain.toml"), "[toolchain]\npath = \"evil\"\n");
            "rust-toolchain.toml"
        }
        // Settings in a folder that the user works in are the user's; these lie in a finding.
        1 if place.join("finding.json").is_file() => {
            let _ = fs::write(place.join("strait.toml"), settings);
            "strait.toml"
        }
        2 => {
            let _ = fs::write(place.join("go.mod"), "module example.com/m\n");
            let _ = fs::write(place.join("m_test.go"), "package m\n");
            "go.mod"
        }
        3 => {
            let _ = std::os::unix::fs::symlink(&secret, place.join(".incomplete-report.html"));
            ".incomplete-report.html"
        }
        4 => {
            let _ = std::os::unix::fs::symlink(&secret, place.join("report.html"));
            "report.html"
        }
        5 => {
            let _ = std::os::unix::fs::symlink(&secret, place.join("reduced.rs"));
            "reduced.rs"
        }
        6 => {
            let _ = std::os::unix::fs::symlink(&evil, place.join(".incomplete-evil"));
            ".incomplete-evil"
        }
        7 => {
            let _ = fs::copy(evil.join("rustc"), place.join("rustc"));
            "rustc"
        }
        _ => {
            let _ = std::os::unix::fs::symlink(&secret, place.join("index.sqlite-journal"));
            "index.sqlite-journal"
        }
    };
    format!("{name} in {}", shown(&place, &sent))
}

/// Other values in a JSON file.
fn values(random: &mut Random, machine: &Machine) -> String {
    let sent = machine.path("sent");
    let files = files(&sent);
    let is_json = |path: &&PathBuf| path.extension().is_some_and(|end| end == "json");
    let documents: Vec<&PathBuf> = files.iter().filter(is_json).collect();
    if documents.is_empty() {
        return "nothing".to_owned();
    }
    let path = *random.choose(&documents);
    let short = fs::metadata(path).is_ok_and(|metadata| metadata.len() < 1 << 20);
    let text = if short { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    let Ok(mut document) = serde_json::from_str::<Value>(&text) else {
        return "nothing".to_owned();
    };
    let mut pointers = Vec::new();
    collect(&document, String::new(), &mut pointers);
    let pointer = random.choose(&pointers).clone();
    let value = hostile(random, machine);
    let told = format!("{pointer} = {value:.60} in {}", shown(path, &sent));
    if let Some(place) = document.pointer_mut(&pointer) {
        *place = value;
    }
    let _ = fs::write(path, document.to_string());
    told
}

fn collect(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let keys = map.iter();
            keys.for_each(|(key, value)| collect(value, format!("{pointer}/{key}"), pointers));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| collect(value, format!("{pointer}/{at}"), pointers));
        }
        _ => {}
    }
    pointers.push(pointer);
}

fn hostile(random: &mut Random, machine: &Machine) -> Value {
    let path = |name: &str| machine.path(name).display().to_string();
    let texts = [
        "./source/rustc".to_owned(),
        "./rustc".to_owned(),
        path("evil/rustc"),
        path("evil/rustc") + ":-Zx",
        path("evil"),
        path("own"),
        "/bin/sh".to_owned(),
        "../../../own/secret".to_owned(),
        "..".to_owned(),
        ".".to_owned(),
        "-toolexec=./rustc".to_owned(),
        "\u{1b}[2J\u{9b}2J\u{202e}\r".to_owned(),
        "rustc".to_owned(),
        "go".to_owned(),
        "core-async".to_owned(),
        "kotlin".to_owned(),
        "1</version>".to_owned(),
        "1.21.0".to_owned(),
        "x".repeat(100_000),
        String::new(),
        "null".to_owned(),
    ];
    let deep = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    match random.below(10) {
        0 => json!(u64::MAX),
        1 => json!(-1),
        2 => json!(1e300),
        3 => Value::Null,
        4 => json!(random.below(3) == 0),
        5 => deep(100),
        6 => json!({ "types": { "oracle_a": path("evil/rustc"), "oracle_b": "rules" } }),
        _ => Value::from(random.choose(&texts).clone()),
    }
}
