//! Rule files and typecheckers of the user: a small language, a command that judges it wrongly, and what
//! is found, replayed and reduced.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use strait_campaign::{Campaign, Counters, Stop};
use strait_findings::{Discovery, Kind, Recorded, Store};
use strait_queue::Shard;
use strait_toolchain::Launcher;
use strait_typefuzz::{
    Error, Exhibit, Fuzzer, Mode, Permitted, Programs, Recipe, Reducer, RuleSet, Settings,
    find_within, judge_all,
};

const SUBJECT: &str = env!("CARGO_BIN_EXE_strait-typefuzz-subject");

/// Sums of numbers and of truth values; `weight 0` is never drawn.
const SUMS: &str = r#"
about "sums".
start expr(T, E) shows E.
sized expr/2.
label never weight 0.
rule number weight 2: expr(number, one).
rule truth: expr(truth, yes).
rule sum weight 3: expr(T, sum(E1, E2)) :-
    @left expr(T, E1) otherwise differs T,
    @never other(T, T2), expr(T2, E2).
other(T, T).
syntax one = "1".
syntax yes = "yes".
syntax sum(E1, E2) = "(" E1 " + " E2 ")".
"#;

fn named(path: &Path) -> Fuzzer {
    Fuzzer::named(&[path.display().to_string()]).expect("a rule file")
}

#[test]
fn a_command_judges_programs_of_a_language_of_ones_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sums.rules");
    std::fs::write(&path, SUMS).expect("written");
    let mut store = Store::open(folder.path()).expect("a store");
    let id = store.campaign(1, 1, "test").expect("a campaign");
    let recipe = Recipe::new(1, Mode::Soundness, named(&path));
    let (launcher, stop) = (Launcher::of(SUBJECT), Arc::new(AtomicBool::new(false)));
    // It misses a number in front of `yes`.
    let command = "sh -c '! grep -q \"yes + 1\" \"$0\"' {.sum}";
    let oracle = find_within(command, &launcher, &stop, Duration::from_secs(60));
    let campaign = Campaign {
        workload: &Programs::new(recipe, vec![oracle.expect("a command")]).expect("programs"),
        count: Some(20),
        shard: Shard::default(),
        jobs: 1,
        stop: &Stop::default(),
        counters: &Counters::default(),
    };
    let mut told = Vec::new();
    let mut found = |_: &Recorded, discovery: &Discovery| told.push(discovery.kind.clone());
    campaign.run(&mut store, id, &mut found).expect("it comes to its end");
    assert_eq!(told, [Kind::SOUNDNESS]);
    let findings: Vec<_> = store.findings().collect();
    assert!(findings[0].title.contains("violates `left`"), "{}", findings[0].title);

    let directory = store.directory(&findings[0].id);
    assert!(directory.join("source/program.txt").exists());
    let refused = Exhibit::open(&directory, &Permitted::default(), &launcher, &stop).err();
    assert!(matches!(refused, Some(Error::Untrusted { .. })), "{refused:?}");
    let permitted = Permitted { named: vec![command.to_owned()], trust: false };
    // The finding has the rules with it.
    std::fs::remove_file(&path).expect("removed");
    let exhibit = Exhibit::open(&directory, &permitted, &launcher, &stop).expect("a finding");
    let reducer = Reducer { time: Duration::from_secs(60), stop: &|| false, tell: &|_, _| {} };
    let reduced = reducer.reduce(&exhibit).expect("it is reduced").expect("it still shows");
    assert!(reduced.after < 10 && reduced.after < reduced.before, "{}", reduced.program);
    assert!(reduced.program.contains('1') && reduced.program.contains("yes"));
}

#[test]
fn a_command_that_cannot_be_started_is_refused() {
    let (launcher, stop) = (Launcher::of(SUBJECT), Arc::new(AtomicBool::new(false)));
    let found = find_within("no-such-checker {}", &launcher, &stop, Duration::from_secs(9));
    let why = found.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("the shell cannot start it"), "{why}");
    let oracle = find_within("cat {} | grep -q fine", &launcher, &stop, Duration::from_secs(9));
    let verdicts = judge_all(oracle.expect("a command").as_ref(), &["fine", "wrong", "fine"]);
    let words: Vec<String> = verdicts.expect("judged").iter().map(|one| one.word()).collect();
    assert_eq!(words, ["accepts", "rejects", "accepts"]);
}

#[test]
fn rule_files_add_to_built_in_rules_and_are_kept_with_a_campaign() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.rules");
    let write = |text: &str| std::fs::write(&path, text).expect("written");
    write(
        "needs tuples.\nrule mine weight 50: expr(_, L, t(unit, []), mine, L).\nsyntax mine = \"()\".",
    );
    let names = vec![path.display().to_string(), "enums".to_owned()];
    let Fuzzer::Rules { rules, .. } = Fuzzer::named(&names).expect("rules") else {
        panic!("rules were named");
    };
    assert_eq!(rules.features, ["core", "tuples", "enums"]);
    assert!(rules.compile().is_ok());
    let begun = Settings::new(None, names.clone(), Vec::new()).expect("settings");
    let same = Settings::new(None, names.clone(), Vec::new()).expect("settings");
    assert!(strait_campaign::Settings::resumed(begun.clone(), &same).is_ok());
    assert!(begun.only_here().is_some_and(|what| what.contains("mine.rules")));
    // The campaign goes on with the rules that it began with; others are refused.
    write("needs core.");
    let changed = Settings::new(None, names, Vec::new()).expect("settings");
    assert!(strait_campaign::Settings::resumed(begun.clone(), &changed).is_err());
    let fuzzer = begun.fuzzer().expect("rules that were kept");
    assert!(fuzzer.files()[0].text.contains("rule mine"));
}

#[test]
fn a_weight_for_a_label_that_no_premise_has_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrong.rules");
    std::fs::write(&path, SUMS.replace("label never", "label lefd, never")).expect("written");
    let rules = RuleSet::named(&[&path.display().to_string()]).expect("a file that is read");
    let why = rules.compile().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("no premise has the label `lefd`"), "{why}");
}
