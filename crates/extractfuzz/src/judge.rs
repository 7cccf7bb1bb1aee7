//! Compares what Go did with what the verifier says.

use std::fmt;

use crate::go::Observation;
use crate::tree::{Program, Schedule};
use crate::verifier::{Answer, Verdict};

/// Results that are asked about, at most.
const ASKED: usize = 4;

/// What the verifier is asked about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The program blocks if it ends with this result, which was observed.
    Occurs(usize, Vec<String>),
    /// The program blocks if it ends with a result that was not observed.
    Other(Vec<Vec<String>>),
    /// The program itself, which blocks, leaks a goroutine or misuses something.
    Blocks,
    /// The program blocks at its end, which it never reaches since it panics before.
    Unreachable,
}

/// What comes out of the comparison, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The verifier says exactly what Go does.
    Exact,
    /// The verifier says that there are results which were not observed. The program may have them.
    MoreResults,
    /// The verifier does not know.
    Unknown,
    /// A false alarm, where an assumption is listed that says so.
    AssumedFalseAlarm,
    /// The program does not do what its generator says, so nothing was asked.
    NotAsked,
    /// A violation that cannot happen, without an assumption.
    FalseAlarm,
    /// The verifier proves what is not true.
    WrongProof,
}

impl Category {
    /// All of them.
    pub const ALL: [Category; 7] = [
        Category::Exact,
        Category::MoreResults,
        Category::Unknown,
        Category::AssumedFalseAlarm,
        Category::NotAsked,
        Category::FalseAlarm,
        Category::WrongProof,
    ];

    /// Whether the verifier is wrong.
    pub fn is_wrong(self) -> bool {
        self >= Category::FalseAlarm
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Category::Exact => "exact",
            Category::MoreResults => "more results",
            Category::Unknown => "unknown",
            Category::AssumedFalseAlarm => "assumed alarm",
            Category::NotAsked => "not asked",
            Category::FalseAlarm => "false alarm",
            Category::WrongProof => "wrong proof",
        })
    }
}

/// A program with its judgement.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The program.
    pub program: Program,
    /// What Go did.
    pub observation: Observation,
    /// What was asked, and the answers.
    pub questions: Vec<(Question, Answer)>,
    /// The worst that the answers show.
    pub category: Category,
    /// Why it is not exact.
    pub reason: String,
}

impl Judged {
    /// The first question whose answer makes the category.
    pub fn wrong_question(&self) -> Option<&Question> {
        let wrong = |(question, answer): &&(Question, Answer)| {
            one(&self.program, question, answer) == self.category
        };
        self.questions.iter().find(wrong).map(|(question, _)| question)
    }
}

/// What to ask about a program that did this.
pub fn questions(program: &Program, observation: &Observation) -> Vec<Question> {
    let results = &observation.results;
    if observation.does_not_compile.is_some() || misgenerated(program, observation).is_some() {
        return Vec::new();
    }
    if observation.is_trouble() {
        return vec![Question::Blocks];
    }
    if results.is_empty() {
        return vec![Question::Unreachable];
    }
    let occurs = results.iter().take(ASKED).cloned().enumerate();
    let mut questions: Vec<Question> =
        occurs.map(|(number, result)| Question::Occurs(number, result)).collect();
    questions.push(Question::Other(results.clone()));
    questions
}

/// Why nothing can be asked about a program that should have one result.
fn misgenerated(program: &Program, observation: &Observation) -> Option<String> {
    let Observation { results, panics, .. } = observation;
    if let Some(message) = &observation.does_not_compile {
        return Some(message.clone());
    }
    if observation.races {
        return Some("the program has a data race".into());
    }
    if program.schedule == Schedule::Varies {
        return None;
    }
    let several = results.len() > 1 || !results.is_empty() && panics.is_some();
    several.then(|| format!("the program has several results: {results:?} {panics:?}"))
}

/// Compares the answers with the truth.
pub fn judge(
    program: Program,
    observation: Observation,
    questions: Vec<(Question, Answer)>,
) -> Judged {
    let mut category = Category::Exact;
    let mut reason = String::new();
    if let Some(why) = misgenerated(&program, &observation) {
        (category, reason) = (Category::NotAsked, why);
    }
    for (question, answer) in &questions {
        let found = one(&program, question, answer);
        if found > category {
            category = found;
            reason = answer.why.clone();
        }
    }
    Judged { program, observation, questions, category, reason }
}

fn one(program: &Program, question: &Question, answer: &Answer) -> Category {
    let must_block = matches!(question, Question::Occurs(..) | Question::Blocks);
    match (must_block, answer.verdict) {
        (true, Verdict::No) | (false, Verdict::Yes) => Category::Exact,
        (_, Verdict::Unknown) => Category::Unknown,
        (true, Verdict::Yes) => Category::WrongProof,
        (false, Verdict::No) if program.schedule == Schedule::Varies => Category::MoreResults,
        (false, Verdict::No) if answer.may_do_more => Category::AssumedFalseAlarm,
        (false, Verdict::No) => Category::FalseAlarm,
    }
}
