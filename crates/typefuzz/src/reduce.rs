//! A finding made small: parts of the term are left out or replaced by smaller ones, as long as the
//! rules still say the same about the rest, and the same oracles still show the same kind of fault.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use strait_clp::{Acceptance, Program, Searcher, Source, Tree, Wish};
use strait_findings::attach;

use crate::discover::{RULE_FILE, standalone};
use crate::error::Error;
use crate::exhibit::Exhibit;
use crate::judge::Fault;
use crate::rules::RuleSet;
use crate::shrink::smaller;

/// Steps for the rules to decide about a candidate.
const STEPS: u64 = 400_000;
/// Candidates in one run of a compiler.
const AT_ONCE: usize = 60;

/// What became of a finding.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The smaller program.
    pub program: String,
    /// The one that it is compared with.
    pub rewritten: Option<String>,
    /// Size of the term before.
    pub before: usize,
    /// Size of the term after.
    pub after: usize,
    /// Candidates that were compiled.
    pub tried: u64,
    /// Whether nothing was left to try, as opposed to no time left.
    pub is_minimal: bool,
    /// How it shows.
    pub fault: Fault,
}

/// Candidate terms with what they are compared with.
#[derive(Clone)]
struct Candidate {
    tree: Tree,
    program: String,
    rewritten: Option<String>,
}

/// Makes findings small.
pub struct Reducer<'a> {
    /// How long it may take.
    pub time: Duration,
    /// Should we stop?
    pub stop: &'a dyn Fn() -> bool,
    /// Hears of every smaller program: the size of the term, candidates compiled.
    pub tell: &'a dyn Fn(usize, u64),
}

impl Reducer<'_> {
    /// Reduces a finding; `None` when the fault does not show any more.
    pub fn reduce(&self, exhibit: &Exhibit) -> Result<Option<Reduced>, Error> {
        let refuse = |why: &str| Error::NotReplayable {
            folder: exhibit.folder.clone(),
            why: why.to_owned(),
        };
        let begun = Instant::now();
        let over = || (self.stop)() || begun.elapsed() > self.time;
        let program = rules(exhibit)?.compile()?;
        let term =
            exhibit.term.as_deref().ok_or_else(|| refuse("source/program.term is missing"))?;
        let mut tree = Tree::parse(&program, term)?;
        let before = tree.size();
        let mut judge = Judge::new(&program, exhibit);
        let Some((mut best, mut fault)) = judge.first(&tree)? else { return Ok(None) };
        let (mut tried, mut is_minimal) = (0, false);
        let mut refused: HashSet<Tree> = HashSet::new();
        'smaller: while !over() {
            let mut candidates = smaller(&program, &tree);
            // What is as large has to be shorter to read.
            let measure = |tree: &Tree| (tree.size(), program.print(tree).len());
            let present = measure(&tree);
            candidates
                .retain(|candidate| !refused.contains(candidate) && measure(candidate) < present);
            // Those that leave out most come first.
            candidates.sort_by_key(Tree::size);
            candidates.dedup();
            let mut waiting = candidates.into_iter().peekable();
            while waiting.peek().is_some() && !over() {
                let mut group = Vec::new();
                while group.len() < AT_ONCE && !over() {
                    let Some(candidate) = waiting.next() else { break };
                    let variants = judge.variants(&candidate);
                    if variants.is_empty() {
                        refused.insert(candidate);
                    }
                    group.extend(variants);
                }
                tried += group.len() as u64;
                let pairs: Vec<(&str, Option<&str>)> = group
                    .iter()
                    .map(|candidate| (candidate.program.as_str(), candidate.rewritten.as_deref()))
                    .collect();
                let shown = exhibit.show(&pairs)?;
                let hit = group
                    .iter()
                    .zip(shown)
                    .find_map(|(candidate, fault)| Some((candidate, fault?)));
                if let Some((candidate, found)) = hit {
                    tree = candidate.tree.clone();
                    (best, fault) = (candidate.clone(), found);
                    (self.tell)(tree.size(), tried);
                    continue 'smaller;
                }
                refused.extend(group.into_iter().map(|candidate| candidate.tree));
            }
            is_minimal = !over();
            break;
        }
        let after = tree.size();
        let Candidate { program, rewritten, .. } = best;
        Ok(Some(Reduced { program, rewritten, before, after, tried, is_minimal, fault }))
    }
}

/// What the rules say about candidates.
struct Judge<'p, 'e> {
    searcher: Searcher<'p>,
    exhibit: &'e Exhibit,
}

impl<'p, 'e> Judge<'p, 'e> {
    fn new(program: &'p Program, exhibit: &'e Exhibit) -> Self {
        let violations = exhibit.details.violations.len() as u32;
        let labels = exhibit.details.violations.clone();
        let wish = Wish { violations, labels, ..Wish::default() };
        Judge { searcher: Searcher::new(program, wish), exhibit }
    }

    /// The finding itself, as far as it still shows.
    fn first(&mut self, tree: &Tree) -> Result<Option<(Candidate, Fault)>, Error> {
        let mut variants = self.pairs(tree);
        if variants.is_empty() {
            // The rewrites cannot be made again one by one: the pair as it was found.
            variants.push(Candidate {
                tree: tree.clone(),
                program: self.exhibit.program.clone(),
                rewritten: self.exhibit.rewritten.clone(),
            });
        }
        let pairs: Vec<(&str, Option<&str>)> = variants
            .iter()
            .map(|candidate| (candidate.program.as_str(), candidate.rewritten.as_deref()))
            .collect();
        let shown = self.exhibit.show(&pairs)?;
        let hit =
            variants.iter().zip(shown).find_map(|(candidate, fault)| Some((candidate, fault?)));
        Ok(hit.map(|(candidate, fault)| (candidate.clone(), fault)))
    }

    /// The pairs to be compared, if the rules say about this term what they said about the finding.
    fn variants(&mut self, tree: &Tree) -> Vec<Candidate> {
        match self.searcher.accepts(tree, STEPS) {
            Acceptance::Accepted(_) => self.pairs(tree),
            Acceptance::Rejected | Acceptance::Unknown => Vec::new(),
        }
    }

    fn pairs(&mut self, tree: &Tree) -> Vec<Candidate> {
        let print = |program: &Program, tree: &Tree| program.print(tree);
        let program = print(self.searcher.program(), tree);
        let Some(rewrites) = &self.exhibit.details.rewrite else {
            return vec![Candidate { tree: tree.clone(), program, rewritten: None }];
        };
        let mut pairs = Vec::new();
        for rewrite in rewrites.split('+') {
            // A guard leaves things open, so that a few draws see more than one.
            for draw in 0..3 {
                for other in self.searcher.rewritings(tree, rewrite, 0, draw) {
                    let rewritten = Some(print(self.searcher.program(), &other));
                    let known = pairs.iter().any(|known: &Candidate| known.rewritten == rewritten);
                    if !known && pairs.len() < 12 {
                        pairs.push(Candidate {
                            tree: tree.clone(),
                            program: program.clone(),
                            rewritten,
                        });
                    }
                }
            }
        }
        pairs
    }
}

/// The rules that made the program of a finding.
fn rules(exhibit: &Exhibit) -> Result<RuleSet, Error> {
    let features: Vec<&str> = exhibit.details.features.iter().map(String::as_str).collect();
    let features = match (features.as_slice(), &exhibit.rules) {
        ([], Some(_)) => Vec::new(),
        (features, _) => RuleSet::built_in(features)?.features,
    };
    let files = exhibit.rules.iter().map(|text| Source::new(RULE_FILE, text.as_str())).collect();
    Ok(RuleSet { features, files })
}

/// Puts the smaller programs into the finding's directory, where a replay takes them from.
pub fn keep(exhibit: &Exhibit, reduced: &Reduced) -> Result<(), Error> {
    let files = exhibit.details.program_files();
    attach(&exhibit.folder, files.reduced, standalone(&reduced.program).as_bytes())?;
    if let Some(rewritten) = &reduced.rewritten {
        attach(&exhibit.folder, files.reduced_rewritten, standalone(rewritten).as_bytes())?;
    }
    Ok(())
}
