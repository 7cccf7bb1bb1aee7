//! Files that are no regular files of moderate length, or that lead out of the folder: each is refused at
//! once, by name.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{Here, REDUCE, REPLAY, Row};

fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a named pipe");
}

fn link(to: &Path, path: &Path) {
    let _ = fs::remove_file(path);
    symlink(to, path).expect("linked");
}

fn huge(path: &Path) {
    let file = File::create(path).expect("made");
    file.set_len(8 << 30).expect("as long as that");
}

pub const FILES: &[Row] = &[
    Row {
        name: "a named pipe as finding.json",
        prepare: |machine| fifo(&machine.finding("fuzz").join("finding.json")),
        finding: "fuzz",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "finding.json is a named pipe",
    },
    Row {
        name: "a named pipe as finding.json, in a report",
        prepare: |machine| fifo(&machine.finding("fuzz").join("finding.json")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "finding.json is a named pipe",
    },
    Row {
        name: "a named pipe as finding.json, merged",
        prepare: |machine| fifo(&machine.finding("fuzz").join("finding.json")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["merge", ".", "--out", "merged"],
        code: 2,
        says: "finding.json is a named pipe",
    },
    Row {
        name: "a named pipe as a program",
        prepare: |machine| fifo(&machine.finding("fuzz").join("program.strait")),
        finding: "fuzz",
        here: Here::Own,
        command: REDUCE,
        code: 2,
        says: "program.strait is a named pipe",
    },
    Row {
        name: "a named pipe as a program of `strait types`",
        prepare: |machine| fifo(&machine.finding("types").join("source/program.rs")),
        finding: "types",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "program.rs is a named pipe",
    },
    Row {
        name: "a named pipe as an output, in a report",
        prepare: |machine| fifo(&machine.finding("fuzz").join("output.txt")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "output.txt is a named pipe",
    },
    Row {
        name: "a named pipe as an output, merged",
        prepare: |machine| fifo(&machine.finding("fuzz").join("output.txt")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["merge", ".", "--out", "merged"],
        code: 2,
        says: "output.txt is a named pipe",
    },
    Row {
        name: "a named pipe as the index",
        prepare: |machine| fifo(&machine.path("sent/index.sqlite")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["merge", ".", "--out", "merged"],
        code: 2,
        says: "index.sqlite is a named pipe",
    },
    Row {
        name: "a named pipe as the lock",
        prepare: |machine| fifo(&machine.path("sent/lock")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["fuzz", "std", "--count", "1", "--resume", "--out", "."],
        code: 2,
        says: "lock is a named pipe",
    },
    Row {
        name: "a huge program",
        prepare: |machine| huge(&machine.finding("fuzz").join("program.strait")),
        finding: "fuzz",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "program.strait is longer than 16 MiB",
    },
    Row {
        name: "a huge finding.json",
        prepare: |machine| huge(&machine.finding("types").join("finding.json")),
        finding: "types",
        here: Here::Own,
        command: REDUCE,
        code: 2,
        says: "finding.json is longer than 16 MiB",
    },
    Row {
        name: "a device as a program",
        prepare: |machine| {
            link(Path::new("/dev/zero"), &machine.finding("fuzz").join("program.strait"))
        },
        finding: "fuzz",
        here: Here::Own,
        command: REPLAY,
        code: 2,
        says: "program.strait is a symbolic link",
    },
    Row {
        name: "a link to a secret, in a report",
        prepare: |machine| {
            link(&machine.path("own/secret"), &machine.finding("fuzz").join("output.txt"))
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "output.txt is a symbolic link",
    },
    Row {
        name: "a report that is a link",
        prepare: |machine| link(&machine.path("own/secret"), &machine.path("sent/report.html")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "report.html",
    },
    Row {
        name: "an incomplete report that is a link",
        prepare: |machine| {
            link(&machine.path("own/secret"), &machine.path("sent/.incomplete-report.html"));
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "report.html",
    },
    Row {
        name: "a lock that is a link",
        prepare: |machine| link(&machine.path("own/secret"), &machine.path("sent/lock")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["fuzz", "std", "--count", "1", "--resume", "--out", "."],
        code: 2,
        says: "lock is a symbolic link",
    },
    Row {
        name: "a lock that is another name of a file",
        prepare: |machine| {
            let lock = machine.path("sent/lock");
            fs::remove_file(&lock).expect("removed");
            fs::hard_link(machine.path("own/secret"), lock).expect("linked");
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["fuzz", "std", "--count", "1", "--resume", "--out", "."],
        code: 2,
        says: "lock has another name",
    },
    Row {
        name: "an index that is another name of a file",
        prepare: |machine| {
            let (index, own) = (machine.path("sent/index.sqlite"), machine.path("own/index"));
            fs::rename(&index, &own).expect("moved");
            fs::hard_link(own, index).expect("linked");
        },
        finding: "fuzz",
        here: Here::Sent,
        command: &["fuzz", "std", "--count", "1", "--resume", "--out", "."],
        code: 2,
        says: "index.sqlite has another name",
    },
    Row {
        name: "a named pipe as settings",
        prepare: |machine| fifo(&machine.path("sent/strait.toml")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 2,
        says: "strait.toml: it is not a regular file",
    },
    Row {
        name: "huge settings",
        prepare: |machine| huge(&machine.path("sent/strait.toml")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 2,
        says: "strait.toml: it is longer than 1 MiB",
    },
    Row {
        name: "findings that are elsewhere",
        prepare: |machine| {
            fs::remove_dir_all(machine.path("sent/findings")).expect("removed");
            link(&machine.path("own"), &machine.path("sent/findings"));
        },
        finding: "",
        here: Here::Sent,
        command: &["report", "."],
        code: 2,
        says: "findings is a symbolic link",
    },
    Row {
        name: "a finding that is elsewhere",
        prepare: |machine| link(&machine.path("own"), &machine.path("sent/findings/crash-x-1-1")),
        finding: "fuzz",
        here: Here::Sent,
        command: &["report", "."],
        code: 0,
        says: "crash-x-1-1 is a symbolic link",
    },
    Row {
        name: "a number of runs that no program has",
        prepare: |machine| {
            machine.change("fuzz", |finding| {
                finding["details"]["run"]["repetitions"] = u64::MAX.into();
                finding["count"] = u64::MAX.into();
            });
        },
        finding: "fuzz",
        here: Here::Own,
        command: &["reduce", "DIR", "--time", "0.2s"],
        code: 2,
        says: "does not show any more",
    },
];
