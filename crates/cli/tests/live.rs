//! The live views of a campaign: the page and its document over HTTP, who is refused, and a terminal that is
//! as before when the full-screen view has ended.
#![allow(clippy::print_stderr, reason = "what was not tested is said aloud")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use strait_toolchain::{End, Finished, Launcher, Spec, run};

const STRAIT: &str = env!("CARGO_BIN_EXE_strait");
/// How long a campaign may take to begin on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn finished(program: &str, arguments: &[&str], folder: &Path) -> Finished {
    let spec = Spec::new(program).arguments(arguments).directory(folder).keep(4 << 20);
    run(&Launcher::of(STRAIT), &spec).expect("it starts")
}

/// What the server answers; nothing if there is none.
fn asked(port: u16, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(request.replace("PORT", &port.to_string()).as_bytes()).ok()?;
    let mut said = String::new();
    stream.read_to_string(&mut said).ok()?;
    Some(said)
}

fn status(port: u16) -> Option<Value> {
    let said = asked(port, "GET /status.json HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n")?;
    let (head, body) = said.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    Some(serde_json::from_str(body).expect("JSON"))
}

#[test]
fn the_page_and_its_document_are_served_to_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("an address").port();
    drop(free);
    let address = format!("127.0.0.1:{port}");
    let place = folder.path().to_owned();
    let campaign = std::thread::spawn(move || {
        let arguments =
            ["fuzz", "std", "--seed", "1", "--count", "400", "--out", "out", "--serve", &address];
        finished(STRAIT, &arguments, &place)
    });
    let begun = Instant::now();
    let running = loop {
        assert!(begun.elapsed() < PATIENCE, "the campaign does not begin");
        assert!(!campaign.is_finished(), "{:?}", campaign.join());
        match status(port).filter(|status| status["targets"][0]["done"].as_u64() > Some(0)) {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(running["command"], "strait fuzz");
    assert_eq!(running["state"], "running");
    assert_eq!(running["targets"][0]["target"], "std");
    assert_eq!(running["workers"][0]["state"], "running");
    assert!(running["memory"].as_u64() > Some(1 << 20), "{running}");
    let table = [
        ("GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", "200 OK"),
        ("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "200 OK"),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "405 Method Not Allowed"),
        ("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "404 Not Found"),
        ("GET / HTTP/1.1\r\nHost: example.com:PORT\r\n\r\n", "403 Forbidden"),
        (
            "GET /status.json HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://example.com\r\n\r\n",
            "403 Forbidden",
        ),
    ];
    for (request, status) in table {
        let said = asked(port, request).expect("the campaign goes on");
        assert!(said.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request}: {said}");
        assert!(said.contains("Content-Security-Policy: default-src 'none'"), "{said}");
        assert!(!said.to_lowercase().contains("access-control"), "{said}");
    }
    let page = asked(port, table[0].0).expect("the campaign goes on");
    assert!(page.contains("<!doctype html>") && page.contains("/status.json"), "{page}");
    let ended = campaign.join().expect("it ends");
    let said = ended.stderr.text();
    assert!(said.contains(&format!("live page: http://127.0.0.1:{port}/")), "{said}");
}

#[test]
fn what_cannot_be_shown_is_said_before_a_folder_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let busy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = busy.local_addr().expect("an address").to_string();
    let table: [(&[&str], &str); 4] = [
        (&["--watch"], "--watch needs a terminal"),
        (&["--watch", "--quiet"], "cannot be used with"),
        (&["--serve", "0.0.0.0:8080"], "the page is for this machine only"),
        (&["--serve", &taken], "is the port in use?"),
    ];
    for (arguments, expected) in table {
        let arguments = [&["fuzz", "std", "--count", "1", "--out", "out"], arguments].concat();
        let ended = finished(STRAIT, &arguments, folder.path());
        assert_eq!(ended.end, End::Exited(2), "{arguments:?}");
        let said = ended.stderr.text();
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!folder.path().join("out").exists(), "{arguments:?}");
    }
}

/// `script` from util-linux gives the command a terminal, and passes on what is typed.
#[test]
fn the_terminal_is_as_before_when_the_view_has_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    if !finished("sh", &["-c", "command -v script && command -v stty"], folder.path())
        .end
        .is_success()
    {
        eprintln!("SKIPPED the full-screen view: there is no `script`");
        return;
    }
    let script = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let campaign = format!("exec {STRAIT} fuzz std --seed 1 --count 100000 --out out --watch\n");
    script("typed.sh", &campaign);
    script("signal.sh", &format!("(sleep 3; kill -TERM $$) &\n{campaign}"));
    // How it is ended: by the key, by Ctrl-C, by Ctrl-C twice, by a signal.
    let table = [
        ("typed.sh", "printf q"),
        ("typed.sh", "printf '\\003'"),
        ("typed.sh", "printf '\\003'; sleep 0.3; printf '\\003'"),
        ("signal.sh", "true"),
    ];
    for (campaign, typed) in table {
        let inner = format!(
            "stty rows 24 cols 80; stty -g > before; TERM=xterm sh {campaign}; stty -g > after"
        );
        let outer =
            format!("(sleep 3; {typed}; sleep 8) | timeout 60 script -qec '{inner}' /dev/null");
        let ended = finished("sh", &["-c", &outer], folder.path());
        let shown = ended.stdout.text();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        assert_eq!(read("before"), read("after"), "{campaign} {typed}");
        let (_, view) = shown.split_once("\x1b[?1049h").expect("the other screen");
        let (view, rest) = view.split_once("\x1b[?1049l").expect("it is left");
        assert!(view.contains("strait fuzz: running"), "{typed}: {shown}");
        assert!(view.ends_with("\x1b[?7h\x1b[?25h"), "{typed}: {shown}");
        assert!(!rest.contains("\x1b[H"), "nothing is drawn afterwards: {rest}");
        std::fs::remove_dir_all(folder.path().join("out")).expect("ours");
    }
}
