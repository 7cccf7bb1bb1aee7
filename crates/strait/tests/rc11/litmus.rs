use std::sync::Arc;
use strait::Model;
use crate::axioms::{Axioms, executions};
use crate::library;
use crate::program::{Program, SKIPPED, Shown};

fn text(shown: &Shown, last: bool) -> String {
    let (finals, threads) = shown.split_last().expect("last");
    let digits = |v: &Vec<u8>| v.iter().map(|v| if *v==SKIPPED {"-".to_owned()} else {v.to_string()}).collect::<String>();
    let mut t: String = threads.iter().map(digits).collect();
    if last { t.push('/'); t.push_str(&digits(finals)); }
    t
}
fn set<'a>(all: impl IntoIterator<Item=&'a Shown>, last: bool) -> String {
    let s: std::collections::BTreeSet<String> = all.into_iter().map(|s| text(s,last)).collect();
    s.into_iter().collect::<Vec<_>>().join(" ")
}
#[test]
fn scratch() {
    let rows = std::fs::read_to_string("/tmp/helpers/litmus-rows.txt").unwrap();
    for line in rows.lines().filter(|l| !l.trim().is_empty()) {
        let (name, rest) = line.split_once('@').unwrap();
        let last = rest.trim().ends_with("LAST");
        let program = Arc::new(Program::parse(rest.trim().trim_end_matches("LAST")));
        println!("== {name} :: {}", rest.trim());
        let show = |ax| { let a = executions(&program, ax); if a.races>0 { format!("race ({} of {})", a.races, a.graphs) } else { format!("{} [{}]", set(&a.shown,last), a.graphs) } };
        println!("  rc11   {}", show(Axioms::Rc11));
        println!("  cpp20  {}", show(Axioms::Cpp20));
        println!("  anyloc {}", show(Axioms::AnyLocation));
        let o = library::outcomes(&program, Model::Rc11);
        let f = o.failures();
        if !f.is_empty() { println!("  strait {:?} of {}", f.iter().map(|f| f.to_string()).collect::<Vec<_>>(), o.executions); } else {
        println!("  strait {} [{}]", set(o.values().into_iter(), last), o.executions); }
        let l = library::loom(&program);
        if l.race { println!("  loom race"); } else { println!("  loom   {} [{}]", set(&l.shown,last), l.executions); }
    }
}
