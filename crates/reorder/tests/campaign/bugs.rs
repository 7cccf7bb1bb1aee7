//! The bugs of the examples are found and replayed, what is right is left alone, and tests that
//! misbehave are survived.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_reorder::{Exhibit, Permitted};

use crate::support::{cache, fuzz, go_is_missing, launcher};

/// What a finding says names the blocked line, the channel and who started it; it replays.
#[test]
fn the_bugs_of_the_examples_are_found_and_replayed() {
    if go_is_missing() {
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/go");
    let examples = examples.canonicalize().expect("the examples");
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = fuzz(&examples, &["./..."], 48, folder.path());
    let found = outcome.by_test();
    let kinds = |kind: &str| BTreeSet::from([kind.to_owned()]);
    let expected = BTreeMap::from([
        ("TestAllocator".to_owned(), kinds("blocking")),
        ("TestBroadcaster".to_owned(), kinds("blocking")),
        ("TestLookup".to_owned(), kinds("blocking")),
        ("TestSession".to_owned(), kinds("panic")),
        ("TestTransfer".to_owned(), kinds("blocking")),
    ]);
    assert_eq!(found, expected);
    let lookup = outcome
        .findings
        .iter()
        .find(|finding| finding.details["test"] == "TestLookup")
        .expect("found");
    assert_eq!(lookup.details["locations"][0], "discovery.go:27");
    for part in [
        "sending to a channel at discovery.go:27",
        "made at discovery.go:21",
        "started at discovery.go:22",
        "took `<-time.After(patience)`, case 1 of 3",
    ] {
        assert!(lookup.explanation.contains(part), "{part} in {}", lookup.explanation);
    }
    let directory = outcome.folder.join("findings").join(&lookup.id);
    let stop = Arc::new(AtomicBool::new(false));
    let permitted = Permitted { module: None, here: &examples, trust: false };
    let exhibit = Exhibit::open(&directory, &permitted, &launcher(), &cache(), &stop, &mut |_| {})
        .expect("it is a finding");
    let again = exhibit.run(5, Duration::from_secs(60), &stop).expect("it runs");
    assert!(again.failed > 0, "{again:?}");
}

const HOSTILE: &str = r#"package hostile

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// It kills what watches it.
func TestKills(t *testing.T) {
	time.Sleep(time.Millisecond)
	syscall.Kill(os.Getppid(), syscall.SIGKILL)
	time.Sleep(time.Hour)
}

func TestPrints(t *testing.T) {
	line := strings.Repeat("x", 1<<20)
	for range 64 {
		fmt.Println(line)
	}
}

func TestExits(t *testing.T) { os.Exit(0) }

func TestForks(t *testing.T) {
	if err := exec.Command("sleep", "1000").Start(); err != nil {
		t.Skip(err)
	}
}

func TestFails(t *testing.T) { t.Error("always") }

func TestNet(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			connection.Write([]byte("hello"))
			connection.Close()
		}
	}()
	connection, err := net.DialTimeout("tcp", listener.Addr().String(), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	buffer := make([]byte, 5)
	if _, err := connection.Read(buffer); err != nil {
		t.Fatal(err)
	}
}

var jobs = make(chan int)

func init() {
	go func() {
		for range jobs {
		}
	}()
}

func TestGlobalWorker(t *testing.T) { jobs <- 1 }

var prepared *int

func TestPrepares(t *testing.T) { prepared = new(int) }

// It panics if it is run alone.
func TestNeedsPrepares(t *testing.T) { *prepared = 1 }

// It needs a server that is not there.
func ExampleServer() {
	panic("connection refused")
	// Output: ok
}
"#;

#[test]
fn tests_that_misbehave_are_survived_and_said() {
    if go_is_missing() {
        return;
    }
    let module = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = module.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("go.mod", "module example.com/hostile\n\ngo 1.24\n");
    write("hostile_test.go", HOSTILE);
    write("broken/broken_test.go", "package broken\n\nfunc TestX(t *testing.T) { undefined() }\n");
    write("silent/silent.go", "package silent\n");
    let vetted = "package vetted\n\nimport \"testing\"\n\nfunc TestLogs(t *testing.T) { t.Logf(\"%d\", \"a\") }\n";
    write("vetted/vetted_test.go", vetted);
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = fuzz(module.path(), &["./..."], 4, folder.path());
    let killed = BTreeSet::from(["worker-death".to_owned()]);
    let expected = BTreeMap::from([("TestKills".to_owned(), killed)]);
    assert_eq!(outcome.by_test(), expected, "{:?}", outcome.findings);
    assert!(outcome.ended.complete);
    let names = |list: &[String]| -> Vec<String> {
        list.iter().filter_map(|name| name.rsplit(' ').next().map(ToOwned::to_owned)).collect()
    };
    assert_eq!(names(&outcome.ended.failing), ["TestFails", "TestNeedsPrepares", "ExampleServer"]);
    assert_eq!(names(&outcome.ended.exiting), ["TestExits"]);
    let [problem] = outcome.prepared.problems.as_slice() else {
        panic!("{:?}", outcome.prepared.problems)
    };
    assert_eq!(problem.package, "example.com/hostile/broken");
    assert!(problem.said.contains("undefined: testing"), "{}", problem.said);
}

const WATCHED: &str = r#"package watched

import (
	"sync"
	"testing"
	"time"
)

// The helper waits for a lock that it holds; the test notices that and fails.
func TestWatchdog(t *testing.T) {
	done := make(chan bool)
	go func() {
		lock := new(sync.Mutex)
		lock.Lock()
		lock.Lock()
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("deadlock")
	}
}
"#;

#[test]
fn what_was_blocked_before_the_test_failed_is_a_finding() {
    if go_is_missing() {
        return;
    }
    let module = tempfile::tempdir().expect("a folder");
    fs::write(module.path().join("go.mod"), "module example.com/watched\n\ngo 1.24\n")
        .expect("go.mod");
    fs::write(module.path().join("watched_test.go"), WATCHED).expect("written");
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = fuzz(module.path(), &["./..."], 4, folder.path());
    // Before Go 1.26 the collector cannot tell.
    let version = outcome.prepared.go.version();
    if version.starts_with("1.24") || version.starts_with("1.25") {
        return;
    }
    let expected =
        BTreeMap::from([("TestWatchdog".to_owned(), BTreeSet::from(["blocking".to_owned()]))]);
    assert_eq!(outcome.by_test(), expected);
}
