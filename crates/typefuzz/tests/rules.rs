//! Single goals of the rules for Rust: places where they once derived what no compiler accepts.

use strait_clp::{Acceptance, Program, Searcher, Source, Tree, Wish, compile};
use strait_typefuzz::{Fuzzer, Language, Mode, Recipe};

/// The rules of these features, which are all that they need, with another goal to start from.
fn goal(features: &[&str], start: &str) -> Program {
    let replaced = "start program(P) shows P.";
    let sources: Vec<Source> = Language::Rust
        .features()
        .iter()
        .filter(|(name, _)| features.contains(name))
        .map(|(name, text)| {
            assert!(*name != "core" || text.contains(replaced));
            Source::new(format!("{name}.rules"), text.replace(replaced, start))
        })
        .collect();
    compile(&sources).unwrap_or_else(|error| panic!("{error}"))
}

fn is_open(tree: &Tree) -> bool {
    match tree {
        Tree::Free(_) => true,
        Tree::Integer(_) => false,
        Tree::Node(_, arguments) => arguments.iter().any(is_open),
    }
}

/// Draws terms of a goal: none of them has open parts, and some have this text.
fn nothing_is_open(program: &Program, wanted: &str) {
    let wish = Wish { size: Some(8), patience: 40, failures: 1_000, ..Wish::default() };
    let mut searcher = Searcher::new(program, wish);
    let terms: Vec<Tree> =
        (0..200).filter_map(|index| searcher.sample(1, index)).map(|sample| sample.tree).collect();
    let texts: Vec<String> = terms.iter().map(|tree| program.term_text(tree)).collect();
    assert!(terms.len() > 150, "{}", terms.len());
    assert!(texts.iter().any(|text| text.contains(wanted)), "{texts:#?}");
    for (tree, text) in terms.iter().zip(&texts) {
        assert!(!is_open(tree), "{text}");
    }
}

/// `impl<P0> T0 for Vec<P0>`: the vector that becomes an object says what its elements are.
#[test]
fn what_becomes_an_object_is_a_whole_type() {
    let features = ["core", "generics", "containers", "traits", "objects"];
    let program = goal(
        &features,
        "start boxed(E) shows E.
         boxed(E) :-
             W = [impl(1, [], tr(0, []), t(vec, [param(0)]), [], [], []), trait(0, 0, any, [], [], [])],
             expr(ctx(W, [], []), [], t(dyn_box(tr(0, [])), []), E, _).",
    );
    nothing_is_open(&program, "unsize(t(vec,");
}

/// `for<'z> &'z P0: T0`: a reference that is a type argument for that reason has a lifetime.
#[test]
fn a_reference_as_a_type_argument_has_a_lifetime() {
    let features = ["core", "generics", "traits", "higher_ranked"];
    let program = goal(
        &features,
        "start called(E) shows E.
         called(E) :-
             F = fn(1, [], [param(0)], [], t(unit, []), [bound(param(0), tr(0, []))], lit(t(unit, []), 0)),
             W = [F, trait(0, 0, any, [], [], [])],
             E = call(1, [], _, _),
             expr(ctx(W, [param(0)], [hr(param(0), tr(0, []))]), [], t(unit, []), E, _).",
    );
    nothing_is_open(&program, "t(ref(tmp),[param(0)])");
}

/// A closure that is given as `impl Fn` reads what it has captured, and changes only what is its own.
#[test]
fn a_closure_behind_fn_does_not_change_its_captures() {
    let program = goal(
        &["core", "closures", "borrows"],
        "start given(E) shows E.
         given(E) :-
             B = t(bool, []),
             W = [higher(0, B, B, 1, 2, lit(B, 0))],
             expr(ctx(W, [], []), [v(3, B, own)], B, E, _).",
    );
    let mut searcher = Searcher::new(&program, Wish::default());
    let mut accepted = |body: &str| {
        let bool = "t(bool,[])";
        let term = format!("give(0,moving(4,{bool},{bool},{body}),lit({bool},1))");
        let tree = Tree::parse(&program, &term).expect("a term");
        match searcher.accepts(&tree, 1_000_000) {
            Acceptance::Accepted(_) => true,
            Acceptance::Rejected => false,
            Acceptance::Unknown => panic!("too many steps for {term}"),
        }
    };
    let borrowed =
        |how: &str, variable: u32| format!("{how}(5,{variable},t(bool,[]),lit(t(bool,[]),0))");
    assert!(accepted("var(3)"));
    assert!(accepted(&borrowed("borrow", 3)));
    assert!(accepted(&borrowed("borrow_mut", 4)));
    assert!(!accepted(&borrowed("borrow_mut", 3)));
}

/// A reference to a temporary stands where it is used, and is no value that a function could return.
#[test]
fn a_reference_to_a_temporary_is_made_in_its_place() {
    let program = goal(
        &["core", "closures"],
        "start passed(Es) shows Es.
         passed(Es) :-
             exprs(ctx([], [], []), [], [t(ref(tmp), [t(bool, [])])], Es, _).",
    );
    let mut searcher = Searcher::new(&program, Wish::default());
    let mut accepted = |term: &str| {
        let tree = Tree::parse(&program, term).expect("a term");
        searcher.accepts(&tree, 1_000_000) != Acceptance::Rejected
    };
    let reference = "t(ref(tmp),[t(bool,[])])";
    let function = format!("closure(1,t(unit,[]),{reference},address(lit(t(bool,[]),1)))");
    assert!(accepted("[address(lit(t(bool,[]),1))]"));
    assert!(!accepted(&format!("[apply({function},lit(t(unit,[]),0))]")));
}

#[test]
fn no_program_has_open_parts() {
    let recipe = Recipe::new(42, Mode::Precision, Fuzzer::Swarm(Language::Rust));
    let mut programs = 0;
    for batch in 0..40 {
        let system = recipe.system(batch).expect("rules that compile");
        for case in (0..10).filter_map(|place| recipe.case(&system, batch * 100 + place)) {
            programs += 1;
            assert!(!is_open(&case.tree), "{}", system.program.term_text(&case.tree));
        }
    }
    assert!(programs > 350, "{programs}");
}
