//! The page: complete, harmless whatever the texts, and looked at by a real browser where there is one.

#![expect(clippy::print_stdout, reason = "what is skipped is said aloud")]
#![expect(
    clippy::disallowed_methods,
    reason = "tidy: starts a process because a browser looks at the page"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use strait_diagram::{Diagram, End, EndState, SourcePlace};
use strait_findings::{
    Batch, Changes, Discovery, Error, Kind, SessionRecord, Store, record_session, report,
    write_report,
};

const HOSTILE: [&str; 7] = [
    "<script>document.title='owned'</script>",
    "</pre></details><img src=x onerror=\"document.title='owned'\">",
    "\" onmouseover=\"document.title='owned'\" x=\"",
    "' autofocus onfocus='document.title=1",
    "</title><script>document.title='owned'</script>",
    "</script><svg onload=document.title='owned'>",
    "&lt;script&gt; \u{202e}gnp.exe \u{1b}[2J \u{0}",
];

fn hostile(folder: &Path) {
    let mut store = Store::open(folder).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    for (index, text) in HOSTILE.into_iter().enumerate() {
        let kind = if index == 0 { Kind::new("brand-new").expect("good") } else { Kind::CRASH };
        for version in [text, "2"] {
            let mut discovery = Discovery::new(kind.clone(), text, version, 1, index as u64)
                .title(text)
                .fingerprint(text)
                .program(text);
            discovery.explanation = text.into();
            discovery.output = text.as_bytes().to_vec();
            discovery.sources.push((text.into(), text.into()));
            discovery.observation = Some(json!({ text: text }));
            discovery.details.insert(text.into(), json!(text));
            let index = index as u64;
            store
                .commit(&Batch::new(campaign, text, version, index..index + 1).found(discovery))
                .expect("it fits");
        }
    }
    store.close().expect("it closes");
}

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    hostile(folder.path());
    let page = report(folder.path()).expect("a page");
    let tags =
        ["<script>document", "<img", "<svg onload", " onerror=\"", " onfocus='", " onmouseover=\""];
    for tag in tags {
        assert!(!page.contains(tag), "{tag}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "ours alone");
    assert!(page.contains("&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;"));
    assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{0}']));
}

#[test]
fn the_page_loads_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    example(folder.path());
    let page = report(folder.path()).expect("a page");
    for outside in ["http://", "https://", "src=", "@import", "url(", "<link", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for shown in [
        "4 findings in 3 targets",
        "strait replay ",
        "<polyline",
        "Versions of crossbeam-channel",
        "0.5.15",
        "value 2 was received twice",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn nothing_found_is_said_in_words_and_no_campaign_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = report(folder.path()).expect_err("empty");
    assert!(matches!(error, Error::NoCampaign { .. }), "{error}");
    let mut store = Store::open(folder.path()).expect("it opens");
    let campaign = store.campaign(1, 1, "").expect("a campaign");
    store.commit(&Batch::new(campaign, "tokio", "1.0.0", 0..1000)).expect("it fits");
    let page = report(folder.path()).expect("also while it runs");
    assert!(
        page.contains("<h1>Nothing was found</h1>") && page.contains("class=\"clean\""),
        "{page}"
    );
}

#[test]
fn a_page_about_go_tests_speaks_of_tests_and_begins_with_what_matters_most() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(folder.path()).expect("it opens");
    let campaign = store.campaign(1, 1, "{\"kind\":\"go\"}").expect("a campaign");
    for (index, kind, title, class, weight) in [
        (0, "panic", "TestA panics", "panic", 20),
        (1, "blocking", "TestB is blocked", "deadlock", 4),
    ] {
        let kind = Kind::new(kind).expect("good");
        let mut discovery =
            Discovery::new(kind, "m/p", "go1", 1, index).title(title).fingerprint(title);
        for (name, value) in
            [("class", json!(class)), ("level", json!("error")), ("weight", json!(weight))]
        {
            discovery.details.insert(name.into(), value);
        }
        let batch = Batch::new(campaign, "m/p", "go1", index..index + 1).found(discovery);
        store.commit(&batch).expect("it fits");
    }
    store.close().expect("it closes");
    let page = report(folder.path()).expect("a page");
    for shown in ["tests showed one", "<th>package</th>", ">deadlock</span>", ">importance<"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("programs"), "{page}");
    let list = page.split("id=\"findings\"").nth(1).expect("a list");
    assert!(list.find("TestB is blocked") < list.find("TestA panics"), "{list}");
}

#[test]
fn a_finding_that_names_files_elsewhere_does_not_show_them() {
    let folder = tempfile::tempdir().expect("a folder");
    example(folder.path());
    fs::write(folder.path().join("secret"), "the secret").expect("written");
    let directory = fs::read_dir(folder.path().join("findings"))
        .expect("there")
        .next()
        .expect("one")
        .expect("readable")
        .path();
    let path = directory.join("finding.json");
    let text =
        fs::read_to_string(&path).expect("there").replace("\"program.strait\"", "\"../../secret\"");
    fs::write(&path, text).expect("written");
    fs::remove_file(folder.path().join("index.sqlite")).expect("there");
    assert!(!report(folder.path()).expect("a page").contains("the secret"));
}

/// A browser that can be asked what it sees.
/// A campaign with one finding.
fn one(folder: &Path, settings: &str, lane: &str, discovery: Discovery) {
    let mut store = Store::open(folder).expect("it opens");
    let campaign = store.campaign(1, 1, settings).expect("a campaign");
    store.commit(&Batch::new(campaign, lane, "1", 0..50).found(discovery)).expect("it fits");
    store.close().expect("it closes");
}

#[test]
fn findings_about_typecheckers_count_in_the_row_of_their_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut discovery =
        Discovery::new(Kind::CONSISTENCY, "types-rustc", "1.95.0", 1, 3).title("a <b>");
    discovery.details.insert("types".into(), json!({}));
    discovery.sources = vec![
        ("program.rs".into(), "fn a() {}\nfn b() {}\n".into()),
        ("rewritten.rs".into(), "fn a() {}\nfn c() {}\n".into()),
    ];
    one(folder.path(), "{\"kind\":\"types\"}", "types rustc", discovery);
    let page = report(folder.path()).expect("a page");
    assert!(
        page.contains("<tr><th scope=\"row\">types rustc</th>"),
        "the row is not clean: {page}"
    );
    assert!(!page.contains("<th scope=\"row\">types-rustc"), "no row without programs");
    assert!(
        page.contains("class=\"left\">fn b() {}") && page.contains("class=\"right\">fn c() {}")
    );
    assert!(page.contains("a &lt;b&gt;") && !page.contains("&amp;lt;"), "escaped once");
}

#[test]
fn a_package_that_was_not_run_itself_has_no_zero() {
    let folder = tempfile::tempdir().expect("a folder");
    let discovery = Discovery::new(Kind::BLOCKING, "m/blamed", "go1", 1, 0).title("blocked");
    one(folder.path(), "{\"kind\":\"go\"}", "m/tested", discovery);
    let page = report(folder.path()).expect("a page");
    let row = page.split("<th scope=\"row\">m/blamed</th>").nth(1).expect("a row");
    assert!(row.starts_with("<td class=\"number none\">–</td>"), "{row}");
    assert!(page.contains("<tr class=\"clean\"><th scope=\"row\">m/tested"));
}

#[test]
fn a_diagram_is_drawn_again_and_marks_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut diagram = Diagram::new("hangs </svg><script>");
    let lane = diagram.lane("<main>");
    diagram.event(lane, "spawn", Some(SourcePlace::line(1)));
    diagram.end(lane, End::new(EndState::Waiting, "put c 1", Some(SourcePlace::line(2))));
    let mut discovery =
        Discovery::new(Kind::HANG, "t", "1", 1, 0).title("hangs").program("main {\nput c 1 }");
    discovery.diagram = Some(diagram);
    let id = discovery.id();
    one(folder.path(), "", "t", discovery);
    let place = folder.path().join("findings").join(id);
    for name in ["diagram.svg", "diagram.json", "diagram.shiviz.log"] {
        assert!(place.join(name).is_file(), "{name}");
    }
    fs::write(place.join("diagram.svg"), "<svg onload=\"owned()\"/>").expect("it is written");
    let page = report(folder.path()).expect("a page");
    assert!(
        page.contains("class=\"sd\"") && page.contains("&lt;main&gt;") && !page.contains("owned()")
    );
    assert!(page.contains("<span class=\"bad\"><span class=\"n\">2</span>"), "{page}");
    assert_eq!(page.matches("<script>").count(), 1, "ours alone");
    fs::write(place.join("diagram.json"), "{\"strait\": 7}").expect("it is written");
    let page = report(folder.path()).expect("a page without a picture");
    assert!(!page.contains("class=\"sd\""));
}

#[test]
fn campaigns_are_compared_by_faults() {
    let (old, new) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let found = |title: &str, version: &str| {
        Discovery::new(Kind::HANG, "t", version, 1, 0).title(title).fingerprint(title)
    };
    one(old.path(), "", "t", found("still", "1"));
    one(old.path(), "", "t", found("gone", "1"));
    one(new.path(), "", "t", found("still", "2"));
    one(new.path(), "", "t", found("fresh", "2"));
    let written = write_report(new.path(), Some(old.path())).expect("a page");
    assert_eq!(written.changes, Some(Changes { new: 1, gone: 1, still_there: 1 }));
    let page = fs::read_to_string(written.path).expect("a page");
    assert!(page.contains("<h4>New: 1</h4>") && page.contains("<h4>Still there: 1</h4>"));
    assert_eq!(page.matches("<span class=\"badge new\">new</span>").count(), 1);
    let missing = old.path().join("nothing");
    assert!(matches!(write_report(new.path(), Some(&missing)), Err(Error::NoCampaign { .. })));
}

#[test]
fn commands_machine_and_rules_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    one(folder.path(), "", "t", Discovery::new(Kind::HANG, "t", "1", 1, 0));
    let session = SessionRecord {
        command: "strait fuzz <t>".into(),
        cores: 7,
        counts: [("rule G-FANOUT", 12), ("rule X-CLOSE", 0), ("faults", 1)]
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
        ..SessionRecord::default()
    };
    record_session(folder.path(), session).expect("it is written");
    let page = report(folder.path()).expect("a page");
    assert!(page.contains("strait fuzz &lt;t&gt;") && page.contains("7 cores"));
    assert!(page.contains("<span class=\"rule\">G-FANOUT</span>") && !page.contains(">faults<"));
    assert!(page.contains("1 of 2 rules of the generator were applied"));
}

fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        println!("skipped: there is no Chromium");
    }
    found
}

fn browse(browser: &str, page: &Path, profile: &Path, arguments: &[&str]) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--virtual-time-budget=2000",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_real_browser_runs_nothing_of_the_hostile_text() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    hostile(folder.path());
    let page = folder.path().join("report.html");
    fs::write(&page, report(folder.path()).expect("a page")).expect("written");
    let seen = browse(browser, &page, &folder.path().join("profile"), &["--dump-dom"]);
    assert!(
        seen.contains("<title>Strait: 14 findings in 7 targets</title>"),
        "{}",
        &seen[..seen.len().min(2000)]
    );
    assert!(!seen.contains("<img") && !seen.contains("onload=\""), "no element came from text");
    assert!(!seen.contains("class=\"filter\" hidden"), "our own script has run");
}

#[test]
fn a_real_browser_paints_the_page() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    example(folder.path());
    let page = folder.path().join("report.html");
    fs::write(&page, report(folder.path()).expect("a page")).expect("written");
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (name, arguments) in [
        ("report-light", ["--window-size=1100,2300", "--blink-settings=preferredColorScheme=1"]),
        ("report-dark", ["--window-size=1100,2300", "--blink-settings=preferredColorScheme=0"]),
        ("report-phone", ["--window-size=500,2600", "--blink-settings=preferredColorScheme=1"]),
    ] {
        let picture = place.join(format!("{name}.png"));
        let _ = fs::remove_file(&picture);
        let screenshot = format!("--screenshot={}", picture.display());
        browse(
            browser,
            &page,
            &folder.path().join(name),
            &[arguments[0], arguments[1], &screenshot],
        );
        let size = fs::metadata(&picture).map_or(0, |file| file.len());
        println!("{}", picture.display());
        assert!(size > 20_000, "{} has {size} bytes", picture.display());
    }
}

/// A campaign as it could be.
fn example(folder: &Path) {
    let mut store = Store::open(folder).expect("it opens");
    let campaign = store.campaign(20_261_115, 1, "").expect("a campaign");
    let program = "// Two senders, and a receiver that only leaves.\nmain {\n    chan c: int 2;\n    spawn { put c 1; put c 2 };\n    spawn { put c 3 };\n    select {\n        x = get c => { observe x }\n        default => { }\n    }\n}\n";
    let mut double_free =
        Discovery::new(Kind::CRASH, "crossbeam-channel", "0.5.13", 20_261_115, 4211)
            .program(program);
    double_free.title = "double free when the receiver leaves an unbounded channel".into();
    double_free.fingerprint = "SIGABRT\nfree(): double free detected in tcache 2\n0: crossbeam_channel::flavors::list::Channel::discard_all_messages".into();
    double_free.explanation = "The worker was ended by SIGABRT in 3 of 10 runs; alone and with a longer time limit it was ended the same way. The program terminates under every schedule.".into();
    double_free.output = b"free(): double free detected in tcache 2\nstack backtrace:\n   0: crossbeam_channel::flavors::list::Channel<T>::discard_all_messages\n".to_vec();
    double_free.sources.push((
        "main.rs".into(),
        "fn main() {\n    let (s, r) = crossbeam_channel::unbounded();\n}\n".into(),
    ));
    (double_free.failed, double_free.runs, double_free.generator_version) = (3, 10, 1);
    let mut lost =
        Discovery::new(Kind::WRONG_OUTCOME, "toy", "0.1.0", 20_261_115, 97).program(program);
    lost.title = "value 2 was received twice, value 1 never".into();
    lost.explanation = "No schedule gives this observation. main received 2, 2; the senders put 1 and 2 once each.\nThe longest explained prefix ends before the second get of main.".into();
    lost.fingerprint = "doubled 2 lost 1".into();
    lost.observation = Some(
        json!({ "main": { "received": [2, 2], "branches": [] }, "p1": { "received": [], "branches": [0] } }),
    );
    lost.output = b"main: x=2 y=2\n".repeat(40);
    let mut hang = Discovery::new(Kind::HANG, "flume", "0.12.0", 20_261_115, 12).program(program);
    hang.title = "two selectors on shared receivers wait forever".into();
    hang.fingerprint = "flume::select::Selector::wait".into();
    hang.explanation =
        "No progress for 5 s in 10 of 10 runs; the program terminates under every schedule.".into();
    let mut second = double_free.clone();
    (second.version, second.index) = ("0.5.14".into(), 90_017);
    for (target, version, speed) in [
        ("async-channel", "2.5.0", 31),
        ("crossbeam-channel", "0.5.13", 12),
        ("crossbeam-channel", "0.5.14", 11),
        ("crossbeam-channel", "0.5.15", 12),
        ("flume", "0.12.0", 24),
        ("tokio", "1.48.0", 40),
        ("toy", "0.1.0", 6),
    ] {
        let mut batch = Batch::new(campaign, target, version, 0..speed * 70).runs(speed * 700);
        let found = [&double_free, &second, &lost, &hang]
            .into_iter()
            .filter(|found| found.target == target && found.version == version);
        for found in found {
            batch = (0..40).step_by(3).fold(batch, |batch, index| {
                let index = found.index + index;
                batch.found(Discovery { index, ..found.clone() })
            });
        }
        store.commit(&batch).expect("it fits");
    }
    store.close().expect("it closes");
    spread(folder);
}

/// Gives the campaign a past: rates over two minutes.
fn spread(folder: &Path) {
    let index = rusqlite::Connection::open(folder.join("index.sqlite")).expect("it opens");
    index.execute_batch(
        "UPDATE campaigns SET active_ms = 125000;
         WITH RECURSIVE seconds(s) AS (SELECT 1 UNION ALL SELECT s + 1 FROM seconds WHERE s < 125)
         INSERT OR IGNORE INTO progress
         SELECT campaign, target, version, s, (programs * (80 + (s * 7919 + length(target) * 31) % 29 + min(s, 20)) / 100 / 4), programs * 3 FROM progress, seconds;
         UPDATE findings SET finding = json_set(finding, '$.found_after', 8 + length(id) * 3 % 97);"
    ).expect("a past");
}
