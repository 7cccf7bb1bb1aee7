//! Smaller programs out of a program: parts are left out or replaced by something simple, one part at
//! a time, and where several only go together, all at once.

use strait_clp::{Functors, Program, Tree, everywhere};

/// What takes the place of a larger part.
const SIMPLE: [&str; 6] =
    ["t(unit,[])", "lit(t(unit,[]),0)", "[]", "none", "any", "[bound(param(0),tr(0,[]))]"];

/// Terms that may be smaller: a list without one of its elements, a part in the place of the whole,
/// something simple in the place of a part, an item reduced to its skeleton. Whether the rules accept
/// them is for others to find out.
pub(crate) fn smaller(program: &Program, tree: &Tree) -> Vec<Tree> {
    let names = Names { functors: program.functors() };
    let mut candidates = Vec::new();
    let mut collect = |changed: Tree| candidates.push(changed);
    names.skeletons(program, tree, &mut collect);
    everywhere(tree, &mut |part| without_first(part), &mut collect);
    for choice in SIMPLE.iter().filter_map(|text| Tree::parse(program, text).ok()) {
        everywhere(
            tree,
            &mut |part| (part.size() > choice.size() && !is_cons(part)).then(|| choice.clone()),
            &mut collect,
        );
    }
    // A part takes the place of what it is a part of.
    for place in 0..6 {
        everywhere(tree, &mut |part| child(part, place), &mut collect);
    }
    candidates
}

/// The functors that skeletons are made of.
struct Names<'f> {
    functors: &'f Functors,
}

impl Names<'_> {
    fn is(&self, tree: &Tree, name: &str, arity: usize) -> bool {
        let Tree::Node(functor, arguments) = tree else { return false };
        arguments.len() == arity && self.functors.name(*functor) == name
    }

    /// Items with nothing in them but what others may need.
    fn skeletons(&self, program: &Program, tree: &Tree, collect: &mut dyn FnMut(Tree)) {
        let parse = |text: &str| Tree::parse(program, text).ok();
        let (Some(unit), Some(empty), Some(list)) =
            (parse("t(unit,[])"), parse("lit(t(unit,[]),0)"), parse("[]"))
        else {
            return;
        };
        // A function without arguments whose body is empty; its bounds stay.
        let hollow = |part: &Tree| {
            let Tree::Node(functor, arguments) = part else { return None };
            let [name, lives, params, _, _, bounds, _] = arguments.as_slice() else { return None };
            let parts = [name, lives, params, &list, &unit, bounds, &empty];
            self.is(part, "fn", 7).then(|| Tree::Node(*functor, parts.map(Tree::clone).to_vec()))
        };
        everywhere(tree, &mut |part| hollow(part).filter(|new| new != part), collect);
        // The same with one type parameter less, and without what was said about it.
        for gone in ["param(0)", "param(1)", "param(2)"].iter().filter_map(|text| parse(text)) {
            let narrow = |part: &Tree| self.without_parameter(&hollow(part)?, &gone);
            everywhere(tree, &mut |part| narrow(part), collect);
        }
        if let (Some(sized), Some(any)) = (parse("sized"), parse("any")) {
            everywhere(tree, &mut |part| (*part == sized).then(|| any.clone()), collect);
        }
        self.plain_traits(program, tree, collect);
    }

    /// A function without a type parameter; later ones move up.
    fn without_parameter(&self, function: &Tree, gone: &Tree) -> Option<Tree> {
        let Tree::Node(functor, arguments) = function else { return None };
        let params = elements(&arguments[2]);
        if params.len() < 2 || !params.contains(&gone) {
            return None;
        }
        let bounds = elements(&arguments[5]).into_iter().filter(|bound| !has(bound, gone));
        let mut arguments = arguments.clone();
        // Parameters are numbered from 0.
        let moved = |tree: &Tree| {
            if *gone == *params[0] { rename(tree, params[1], gone) } else { tree.clone() }
        };
        let kept = params.len() - 1;
        arguments[2] = listed(params.iter().take(kept).map(|param| (*param).clone()));
        arguments[5] = listed(bounds.map(moved));
        Some(Tree::Node(*functor, arguments))
    }

    /// All about one trait becomes as plain as it can be: no parameters, no supertraits, no methods.
    fn plain_traits(&self, program: &Program, tree: &Tree, collect: &mut dyn FnMut(Tree)) {
        let mut traits = Vec::new();
        visit(tree, &mut |part| {
            if let (true, Tree::Node(_, arguments)) = (self.is(part, "trait", 6), part) {
                traits.push((part.clone(), arguments[0].clone()));
            }
        });
        for (old, name) in traits {
            let number = program.term_text(&name);
            for assoc in ["[]", "[at(0,none,[])]"] {
                let text = format!("trait({number},0,any,[],{assoc},[])");
                let Ok(new) = Tree::parse(program, &text) else { continue };
                if new == old {
                    continue;
                }
                let plain = map(tree, &mut |part| {
                    if *part == old {
                        return Some(new.clone());
                    }
                    let Tree::Node(functor, arguments) = part else { return None };
                    let of_it = self.is(part, "tr", 2) && arguments[0] == name;
                    let nil = Tree::Node(Functors::NIL, Vec::new());
                    of_it.then(|| Tree::Node(*functor, vec![name.clone(), nil]))
                });
                collect(plain);
            }
        }
    }
}

/// A tree with changed parts; what is inside a changed part stays.
fn map(tree: &Tree, change: &mut dyn FnMut(&Tree) -> Option<Tree>) -> Tree {
    if let Some(changed) = change(tree) {
        return changed;
    }
    match tree {
        Tree::Node(functor, arguments) => {
            Tree::Node(*functor, arguments.iter().map(|argument| map(argument, change)).collect())
        }
        _ => tree.clone(),
    }
}

fn visit(tree: &Tree, see: &mut dyn FnMut(&Tree)) {
    see(tree);
    if let Tree::Node(_, arguments) = tree {
        arguments.iter().for_each(|argument| visit(argument, see));
    }
}

fn has(tree: &Tree, part: &Tree) -> bool {
    let mut found = false;
    visit(tree, &mut |seen| found |= seen == part);
    found
}

fn rename(tree: &Tree, from: &Tree, to: &Tree) -> Tree {
    map(tree, &mut |part| (part == from).then(|| to.clone()))
}

fn elements(list: &Tree) -> Vec<&Tree> {
    let (mut found, mut rest) = (Vec::new(), list);
    while let Tree::Node(Functors::CONS, arguments) = rest {
        found.push(&arguments[0]);
        rest = &arguments[1];
    }
    found
}

fn listed(elements: impl DoubleEndedIterator<Item = Tree>) -> Tree {
    let nil = Tree::Node(Functors::NIL, Vec::new());
    elements.rev().fold(nil, |rest, element| Tree::Node(Functors::CONS, vec![element, rest]))
}

fn is_cons(tree: &Tree) -> bool {
    matches!(tree, Tree::Node(Functors::CONS, _))
}

fn without_first(part: &Tree) -> Option<Tree> {
    match part {
        Tree::Node(Functors::CONS, arguments) => Some(arguments[1].clone()),
        _ => None,
    }
}

fn child(part: &Tree, place: usize) -> Option<Tree> {
    match part {
        Tree::Node(Functors::CONS, _) => None,
        Tree::Node(_, arguments) => arguments.get(place).filter(|child| child.size() > 1).cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use strait_clp::Tree;

    use super::smaller;
    use crate::rules::RuleSet;

    /// What a program can become in one step, printed.
    fn steps(term: &str) -> Vec<String> {
        let program = RuleSet::built_in(&["higher_ranked", "associated"])
            .and_then(|rules| rules.compile())
            .expect("rules that compile");
        let tree = Tree::parse(&program, term).expect("a term");
        smaller(&program, &tree).iter().map(|tree| program.print(tree)).collect()
    }

    #[test]
    fn what_only_goes_together_goes_together() {
        let body = "fn(3,[],[param(0),param(1)],[a(4,param(1))],param(1),[st(param(1)),st(param(0))],var(4))";
        let steps = steps(&format!("program([{body}])"));
        let hollow = "pub fn f3<P0, P1>() where P1: 'static, P0: 'static {}";
        assert!(steps.iter().any(|step| step == hollow), "{steps:#?}");
        let narrow = "pub fn f3<P0>() where P0: 'static {}";
        assert_eq!(steps.iter().filter(|step| *step == narrow).count(), 2, "{steps:#?}");
    }

    #[test]
    fn a_trait_becomes_plain_with_all_that_mentions_it() {
        let trait_item = "trait(1,1,sized,[tr(clone,[])],[],[])";
        let user = "fn(3,[],[param(0)],[],t(unit,[]),[bound(param(0),tr(1,[t(i32,[])]))],lit(t(unit,[]),0))";
        let steps = steps(&format!("program([{trait_item},{user}])"));
        let plain = "pub trait T1 {  }\npub fn f3<P0>() where P0: T1 {}";
        let squeezed = |text: &str| text.replace(' ', "");
        assert!(steps.iter().any(|step| squeezed(step) == squeezed(plain)), "{steps:#?}");
    }
}
