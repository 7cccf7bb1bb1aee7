//! Tests of the steps that need neither Go nor the verifier, as tables.

use strait_generate::{Purpose, Stream};

use crate::cases::{CaseResult, Truth, compare, functions};
use crate::error::Error;
use crate::expand::Draft;
use crate::expression::Variable;
use crate::go::Observation;
use crate::judge::{Category, Question, judge, questions};
use crate::print::tests_file;
use crate::template::gadgets;
use crate::tree::{Kind, Observed, Program, Schedule};
use crate::verifier::{Answer, Verdict};

fn empty(schedule: Schedule) -> Program {
    Program {
        index: 0,
        family: "test",
        gadgets: Vec::new(),
        schedule,
        top: Vec::new(),
        body: Vec::new(),
        observed: vec![Observed { name: "n".into(), kind: Kind::Int }],
    }
}

#[test]
fn a_gadget_becomes_go() {
    let text = "// A comment.\n== loop\n^func @@twice(n int) int { return 2 * n }\n@n := 0\n\
                for @i := range 3 {\nif @i == 1 {\ncontinue\n} else {\n@n += @@twice(@i)\n}\n}\n\
                => int @n\n";
    let gadgets = gadgets("test", text).expect("the gadget is well formed");
    let mut program = empty(Schedule::Sequential);
    let mut stream = Stream::new(1, 0, Purpose::Program);
    let mut names = 0;
    let scope = vec![Variable { name: "v".into(), kind: Kind::Int }];
    let mut draft = Draft {
        stream: &mut stream,
        program: &mut program,
        scope,
        names: &mut names,
        depth: 1,
        expressions: 1,
    };
    let body = draft.expand(&gadgets[0]);
    assert_eq!(draft.scope.last().map(|one| one.name.as_str()), Some("n2"));
    program.body = body;
    program.observed = vec![Observed { name: "n2".into(), kind: Kind::Int }];
    let question = Question::Other(vec![vec!["4".into()]]);
    let expected = "package p\n\nimport (\n\t\"testing\"\n)\n\n\
                    func twice1(n int) int { return 2 * n }\n\n\
                    func TestOther(_ *testing.T) {\n\tn2 := 0; _ = n2\n\tfor i3 := range 3 {\n\
                    \t\tif i3 == 1 {\n\t\t\tcontinue\n\t\t} else {\n\t\t\tn2 += twice1(i3)\n\
                    \t\t}\n\t}\n\tif !(n2 == 4) {\n\t\tblock()\n\t}\n}\n";
    assert_eq!(tests_file(&program, "p", "", &[question]), expected);
}

#[test]
fn a_wrong_gadget_file_names_its_line() {
    let table = [
        ("x := 1\n", "test.gadgets:1: this line is before `==`"),
        ("== a wrong\n", "test.gadgets:1: this flag is not known"),
        ("== a\n=> float @x\n", "test.gadgets:2: a result is `KIND @name`"),
    ];
    for (text, expected) in table {
        let error = gadgets("test", text).expect_err("the file is wrong");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn questions_follow_from_what_go_did() {
    let one = || vec![vec!["1".to_owned()]];
    let two = || vec![vec!["1".to_owned()], vec!["2".to_owned()]];
    let ended = |results| Observation { results, ..Observation::default() };
    let hangs = Observation { hangs: true, ..ended(one()) };
    let panics = Observation { panics: Some("x".into()), ..ended(Vec::new()) };
    let races = Observation { races: true, ..ended(one()) };
    let occurs = |number: usize| Question::Occurs(number, vec![(number + 1).to_string()]);
    let table = [
        (Schedule::Sequential, ended(one()), vec![occurs(0), Question::Other(one())]),
        (Schedule::Sequential, ended(two()), vec![]),
        (Schedule::Varies, ended(two()), vec![occurs(0), occurs(1), Question::Other(two())]),
        (Schedule::Deterministic, hangs, vec![Question::Blocks]),
        (Schedule::Sequential, panics, vec![Question::Unreachable]),
        (Schedule::Varies, races, vec![]),
    ];
    for (schedule, observation, expected) in table {
        assert_eq!(questions(&empty(schedule), &observation), expected, "{observation:?}");
    }
}

#[test]
fn answers_are_compared_with_the_truth() {
    let occurs = || Question::Occurs(0, vec!["1".into()]);
    let other = || Question::Other(vec![vec!["1".into()]]);
    let (fixed, varies) = (Schedule::Deterministic, Schedule::Varies);
    let table = [
        (fixed, occurs(), Verdict::No, false, Category::Exact),
        (fixed, occurs(), Verdict::Yes, false, Category::WrongProof),
        (fixed, occurs(), Verdict::Unknown, false, Category::Unknown),
        (fixed, other(), Verdict::Yes, false, Category::Exact),
        (fixed, other(), Verdict::No, false, Category::FalseAlarm),
        (fixed, other(), Verdict::No, true, Category::AssumedFalseAlarm),
        (varies, other(), Verdict::No, false, Category::MoreResults),
        (varies, occurs(), Verdict::Yes, true, Category::WrongProof),
        (fixed, Question::Blocks, Verdict::Yes, false, Category::WrongProof),
        (fixed, Question::Blocks, Verdict::No, false, Category::Exact),
        (fixed, Question::Unreachable, Verdict::No, false, Category::FalseAlarm),
        (fixed, Question::Unreachable, Verdict::Yes, false, Category::Exact),
    ];
    for (schedule, question, verdict, may_do_more, expected) in table {
        let answer = Answer { verdict, why: String::new(), may_do_more };
        let asked = vec![(question.clone(), answer)];
        let judged = judge(empty(schedule), Observation::default(), asked);
        assert_eq!(judged.category, expected, "{question:?} {verdict:?}");
    }
}

#[test]
fn cases_state_their_truth() {
    let text = "// truth: fine: they meet\nfunc TestMeet(t *testing.T) {}\n\n\
                // A comment.\n// truth: deadlock\nfunc TestWait(t *testing.T) {}\n\
                func Test_copy_ok(t *testing.T) {}\nfunc Test_copy_bug(t *testing.T) {}\n\
                func helper() {}\n";
    let cases = functions(text, "folder").expect("every test states its truth");
    let stated: Vec<_> = cases.iter().map(|case| (case.name.as_str(), case.truth)).collect();
    assert_eq!(
        stated,
        [
            ("folder.TestMeet", Truth::Fine),
            ("folder.TestWait", Truth::Bug),
            ("folder.Test_copy_ok", Truth::Fine),
            ("folder.Test_copy_bug", Truth::Bug),
        ]
    );
    let missing = functions("func TestAny(t *testing.T) {}\n", "folder");
    assert!(matches!(missing, Err(Error::NoTruth(name)) if name == "folder.TestAny"));
}

#[test]
fn a_case_is_right_wrong_or_unknown() {
    let table = [
        (Truth::Fine, Verdict::Yes, CaseResult::Right),
        (Truth::Fine, Verdict::No, CaseResult::FalseAlarm),
        (Truth::Fine, Verdict::Unknown, CaseResult::Unknown),
        (Truth::Bug, Verdict::Yes, CaseResult::WrongProof),
        (Truth::Bug, Verdict::No, CaseResult::Right),
        (Truth::Bug, Verdict::Unknown, CaseResult::Unknown),
    ];
    for (truth, verdict, result) in table {
        assert_eq!(compare(truth, verdict), result, "{truth:?} {verdict:?}");
    }
}
