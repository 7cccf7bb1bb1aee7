//! From a suspicion to a discovery: what a person reads about it, what groups it with others, what
//! a replay needs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strait_calculus::{Event, Observation, Program, Span, parse, print};
use strait_emit::{Complaint, Era, Language, emit, emit_kotlin, go_dump, jvm_dump, stack_overflow};
use strait_findings::{Discovery, Kind};
use strait_generate::GENERATOR_VERSION;
use strait_runtimes::harness::plan::{At, Instruction, Op, Plan};
use strait_runtimes::harness::record::{Path, path_name};
use strait_runtimes::{
    Anomaly, Flavour, Imbalance, Payload, Promise, RunOptions, Style, lower_with_places,
    observation,
};
use strait_toolchain::End;

use crate::confirm::Confirmation;
use crate::diagram::diagram;
use crate::dialect::Dialect;
use crate::done::Death;
use crate::fuzz_target::{Backend, FuzzTarget};
use crate::judge::{Fault, Suspicion};
use crate::work::Work;

/// Words of allocators that have noticed damage. The same damage is noticed in many ways.
const DAMAGE: [&str; 8] = [
    "free()",
    "malloc",
    "double free",
    "corrupted",
    "invalid pointer",
    "tcache",
    "unsorted",
    "munmap_chunk",
];
/// Signals that damaged memory ends in.
const DAMAGING: [&str; 4] = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP"];

/// Everything about a fault, to be kept.
pub fn discovery(
    target: &FuzzTarget,
    seed: u64,
    work: &Work,
    suspicion: &Suspicion,
    confirmation: Option<&Confirmation>,
) -> Discovery {
    let text = print(&work.program);
    let source = Source::new(&text);
    let fault = &suspicion.fault;
    let kind = kind(fault);
    let (title, mut explanation) = words(fault, work, &source);
    explanation.push_str(&how_it_ran(target, &work.options));
    if let Some(confirmation) = confirmation {
        explanation.push_str(&confirmation.sentences());
    }
    let mut discovery = Discovery::new(kind, &target.target, &target.version, seed, work.index)
        .title(format!("{}: {title}", target.target))
        .fingerprint(fingerprint(fault, work))
        .program(text.as_str());
    discovery.generator_version = GENERATOR_VERSION;
    discovery.failed = suspicion.failed + confirmation.map_or(0, |confirmation| confirmation.again);
    discovery.runs = suspicion.runs + confirmation.map_or(0, |confirmation| confirmation.runs);
    discovery.explanation = explanation;
    discovery.sources = sources(target, &work.program);
    discovery.output = output(fault);
    discovery.observation = seen(fault).and_then(|seen| serde_json::to_value(seen).ok());
    discovery.details = details(&work.options, confirmation);
    discovery
}

/// The same with a diagram, which takes a search and is made for findings that are kept.
pub fn drawn(discovery: Discovery, work: &Work, suspicion: &Suspicion) -> Discovery {
    let diagram = diagram(&work.program, &suspicion.fault, &discovery.title);
    Discovery { diagram, ..discovery }
}

/// An index that workers died at. The program is not made: making it may be what kills.
pub fn deadly(target: &FuzzTarget, seed: u64, index: u64) -> Discovery {
    let mut discovery =
        Discovery::new(Kind::WORKER_DEATH, &target.target, &target.version, seed, index)
            .title(format!("{}: workers died at program {index} of seed {seed}", target.target))
            .fingerprint(format!("workers died at {}", spelled(index)));
    discovery.generator_version = GENERATOR_VERSION;
    discovery.explanation = format!(
        "A worker was lost at program {index}. Two processes that ran it alone died as well, so it is \
         not run again. They were killed for their use of memory, or this is a fault of Strait. To see \
         which, run the programs before it and it on a machine of your own:\n\
         strait fuzz {} --seed {seed} --count {} --jobs 1\n",
        target.target,
        index + 1
    );
    discovery
}

/// A number in letters: numbers in fingerprints do not count.
fn spelled(number: u64) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

/// The program in the target's own language, where we can write that.
fn sources(target: &FuzzTarget, program: &Program) -> Vec<(String, String)> {
    let language = match target.target.as_str() {
        "crossbeam-channel" => Language::Rust,
        name => match Dialect::of(name).and_then(|dialect| dialect.platform.language()) {
            Some(language) => language,
            None => return Vec::new(),
        },
    };
    let text = match (language, Era::of(&target.version)) {
        (Language::Kotlin, Some(era)) => emit_kotlin(era, program),
        _ => emit(language, program),
    };
    // What cannot be written is still there as `.strait`.
    text.map(|text| (format!("program.{}", language.extension()), text)).into_iter().collect()
}

/// Which fault this is, without what only people read: equal for the same fault.
pub fn identity(target: &FuzzTarget, work: &Work, fault: &Fault) -> String {
    Discovery::new(kind(fault), &target.target, &target.version, 0, 0)
        .fingerprint(fingerprint(fault, work))
        .id()
}

pub fn kind(fault: &Fault) -> Kind {
    match fault {
        Fault::Crash(_) | Fault::Panic(_) => Kind::CRASH,
        Fault::Hang { .. } => Kind::HANG,
        Fault::Wrong(..) | Fault::Anomaly(_) => Kind::WRONG_OUTCOME,
        Fault::Refused(Complaint::Error(_)) => Kind::COMPILE_ERROR,
        Fault::Refused(Complaint::Crash(_)) => Kind::COMPILER_CRASH,
    }
}

/// The program with its positions.
struct Source<'a> {
    text: &'a str,
    places: Vec<Span>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        let lowered =
            parse(text).ok().and_then(|program: Program| lower_with_places(&program).ok());
        Source { text, places: lowered.map(|(_, places)| places).unwrap_or_default() }
    }

    /// `line 7: x = get c`
    fn line(&self, at: At) -> String {
        let Some(span) = self.places.get(at.0 as usize).filter(|span| !span.is_none()) else {
            return "somewhere".to_owned();
        };
        let (line, _) = span.line_column(self.text);
        let words = self.text.lines().nth(line - 1).unwrap_or_default().trim();
        format!("line {line}: {words}")
    }
}

/// What a panic is called: a stack that is too deep is named as such in every target.
fn panicked(message: &str) -> String {
    let said = message.lines().next().unwrap_or_default();
    let words = ["StackOverflowError", "stack overflow", "Stack overflow", "stack exceeds"];
    if words.iter().any(|word| said.contains(word)) {
        return "overflows its stack".to_owned();
    }
    // Numbers differ from run to run; the class of an exception does not.
    let exception = said.split([':', ' ']).next().unwrap_or_default();
    match exception.rsplit('.').next() {
        Some(class) if class.ends_with("Exception") || class.ends_with("Error") => {
            format!("throws {class}")
        }
        _ => "panics".to_owned(),
    }
}

/// A title, and sentences with the evidence.
fn words(fault: &Fault, work: &Work, source: &Source<'_>) -> (String, String) {
    let how = format!(
        "{} in {} style, {} messages",
        work.options.flavour.word(),
        work.options.style.word(),
        work.options.payload.word()
    );
    match fault {
        Fault::Crash(death) => (
            format!("{} ({how})", died(death)),
            format!(
                "The process that ran the program was ended by {}.\n{}",
                death.end,
                if death.said.is_empty() {
                    String::new()
                } else {
                    format!("It said: {}\n", death.said)
                }
            ),
        ),
        Fault::Panic(message) => {
            (format!("{} ({how})", panicked(message)), format!("The target panicked: {message}\n"))
        }
        Fault::Hang { stuck, record, dump } => (
            format!("hangs ({how}): {}", waits(&work.plan, stuck)),
            format!(
                "Nothing moved any more, although the program ends under every schedule.\nStill waiting:\n{}Seen until then:\n{}{}",
                stuck
                    .iter()
                    .map(|(path, at)| format!("  {:<10} {}\n", path_name(path), source.line(*at)))
                    .collect::<String>(),
                told(&observation(record)),
                dumped(dump),
            ),
        ),
        Fault::Refused(complaint) => refusal_words(complaint),
        Fault::Wrong(record, evidence) => (
            format!("{} ({how})", evidence.mischief),
            format!(
                "No schedule of the program gives what its processes saw: {}.\nAlready this is impossible:\n{}What was seen:\n{}",
                evidence.mischief,
                told(&evidence.core),
                told(&observation(record)),
            ),
        ),
        Fault::Anomaly(anomaly) => {
            let sentence = anomaly_words(*anomaly);
            (
                format!("{sentence} ({how})"),
                format!("In this run {sentence}. Everything else in it was right.\n"),
            )
        }
    }
}

/// What the words of the title about flavour, style and messages mean.
fn how_it_ran(target: &FuzzTarget, options: &RunOptions) -> String {
    if matches!(target.backend, Backend::Compiler(_)) {
        return String::new();
    }
    let processes = match options.flavour {
        Flavour::Threads => "Every process was a thread",
        Flavour::Tasks => "Every process was a task",
        Flavour::Mixed => "Some processes were threads and the others tasks, on the same channels",
    };
    let style = match options.style {
        Style::Plain => "the program was run over and over, one run after the other (plain style)",
        Style::Batched => {
            "many runs were made at once, each thread or task going through all of them (batched style)"
        }
        Style::Barrier => {
            "many runs were made at once, and before each operation a process waited for a moment until another process of its run was there too (barrier style)"
        }
    };
    let messages = match options.payload {
        Payload::Plain => "messages were integers",
        Payload::Boxed => "messages were boxes on the heap",
        Payload::Counted => "messages counted how often they were dropped",
    };
    format!("{processes}; {style}; {messages}.\n")
}

/// What a runtime that was asked for its threads or goroutines has said, in a sentence.
fn dumped(dump: &str) -> String {
    let deadlocked = jvm_dump(dump).deadlocked;
    if !deadlocked.is_empty() {
        return format!(
            "The JVM itself found a deadlock among the threads {}.\n",
            deadlocked.join(", ")
        );
    }
    let go = go_dump(dump);
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    go.waiting().for_each(|waiting| *states.entry(waiting.state.as_str()).or_default() += 1);
    if states.is_empty() {
        return String::new();
    }
    let states: Vec<String> =
        states.into_iter().map(|(state, count)| format!("{count} in {state}")).collect();
    format!("Goroutines that wait for a channel: {}.\n", states.join(", "))
}

/// The line of a compiler's words that says most.
fn first_error(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = |line: &&str| line.to_lowercase().contains("error");
    lines.clone().find(telling).or_else(|| lines.next()).unwrap_or("nothing")
}

fn refusal_words(complaint: &Complaint) -> (String, String) {
    let (title, sentence) = match complaint {
        Complaint::Error(_) => {
            ("is not compiled", "The compiler rejects the program, which is a valid one.")
        }
        Complaint::Crash(_) => ("breaks the compiler", "The compiler broke down over the program."),
    };
    let said = first_error(complaint.said());
    (format!("{title}: {said}"), format!("{sentence} It says: {said}\n"))
}

fn died(death: &Death) -> String {
    match (&death.end, is_damage(death)) {
        (_, true) => format!("damages memory, {}", death.end),
        (End::Stopped, _) => "does not answer any more".to_owned(),
        (end, false) => format!("dies with {end}"),
    }
}

fn is_damage(death: &Death) -> bool {
    match &death.end {
        End::Signalled(signal) => {
            DAMAGING.contains(&signal.as_str())
                || DAMAGE.iter().any(|words| death.said.contains(words))
        }
        _ => false,
    }
}

fn anomaly_words(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::Payload(Imbalance::Leaked(_)) => "a message was never dropped",
        Anomaly::Payload(Imbalance::DoubleDropped(_)) => "a message was dropped twice",
        Anomaly::Payload(Imbalance::Confused) => "a message was dropped that never was one",
        Anomaly::Refused => "a send failed although there was a receiver",
    }
}

/// `main=7,closed`
fn told(observation: &Observation) -> String {
    if observation.processes.is_empty() {
        return "  nothing\n".to_owned();
    }
    let process = |(name, events): (&String, &Vec<Event>)| {
        let events: Vec<String> = events.iter().map(told_event).collect();
        format!("  {name:<10} {}\n", events.join(", "))
    };
    observation.processes.iter().map(process).collect()
}

/// One thing that a process saw, in words.
pub fn told_event(event: &Event) -> String {
    match event {
        Event::Received(value) => format!("received {value}"),
        Event::Closed => "found the channel closed".to_owned(),
        Event::Chose(case) => format!("chose case {case}"),
        Event::Defaulted => "took the default".to_owned(),
        Event::TimedOut => "timed out".to_owned(),
        Event::Observed(value) => format!("observed {value}"),
    }
}

fn seen(fault: &Fault) -> Option<Observation> {
    match fault {
        Fault::Hang { record, .. } | Fault::Wrong(record, _) => Some(observation(record)),
        Fault::Crash(_) | Fault::Panic(_) | Fault::Anomaly(_) | Fault::Refused(_) => None,
    }
}

fn output(fault: &Fault) -> Vec<u8> {
    match fault {
        Fault::Crash(death) => death.said.clone().into_bytes(),
        Fault::Panic(message) => message.clone().into_bytes(),
        Fault::Hang { dump, .. } => dump.clone().into_bytes(),
        Fault::Refused(complaint) => complaint.said().as_bytes().to_vec(),
        Fault::Wrong(..) | Fault::Anomaly(_) => Vec::new(),
    }
}

/// Who waits for what, without names: `get, select of puts`.
fn waits(plan: &Plan, stuck: &[(Path, At)]) -> String {
    let mut operations: Vec<&'static str> =
        stuck.iter().map(|(_, at)| operation(plan, *at)).collect();
    operations.sort_unstable();
    operations.dedup();
    match operations.as_slice() {
        [] => "no process waits at an operation".to_owned(),
        operations => format!("waiting at {}", operations.join(", ")),
    }
}

fn operation(plan: &Plan, at: At) -> &'static str {
    match plan.instructions.get(at.0 as usize) {
        Some(Instruction::Select(select)) => {
            let puts = select.cases.iter().filter(|case| matches!(case.op, Op::Put(..))).count();
            match (select.is_single, puts) {
                (true, 0) => "get",
                (true, _) => "put",
                (false, 0) => "select of gets",
                (false, puts) if puts == select.cases.len() => "select of puts",
                (false, _) => "select of both",
            }
        }
        _ => "another statement",
    }
}

/// What is the same when the fault shows again.
fn fingerprint(fault: &Fault, work: &Work) -> String {
    let flavour = work.options.flavour.word();
    match fault {
        Fault::Crash(death) if is_damage(death) => "memory is damaged".to_owned(),
        Fault::Crash(death) => format!("{}\n{}", death.end, death.said),
        // Where the stack ends is a matter of chance.
        Fault::Panic(message) if stack_overflow(message).is_some() => "stack overflow".to_owned(),
        Fault::Panic(message) => format!("panic\n{message}"),
        Fault::Hang { stuck, .. } => format!("{flavour} {}", waits(&work.plan, stuck)),
        Fault::Wrong(_, evidence) => format!("{flavour} {}", evidence.mischief.word()),
        Fault::Anomaly(anomaly) => format!("{flavour} {}", anomaly_words(*anomaly)),
        Fault::Refused(complaint) => first_error(complaint.said()).to_owned(),
    }
}

fn details(options: &RunOptions, confirmation: Option<&Confirmation>) -> BTreeMap<String, Value> {
    let mut details = BTreeMap::from([("run".to_owned(), run_to_json(options))]);
    if let Some(confirmation) = confirmation {
        details.insert("confirmation".to_owned(), confirmation.to_json());
    }
    details
}

/// The most runs of a program in one process.
const MOST_REPETITIONS: u64 = 20_000;

/// How a program was run, for a replay.
fn run_to_json(options: &RunOptions) -> Value {
    json!({
        "flavour": options.flavour.word(),
        "promise": options.promise.word(),
        "style": options.style.word(),
        "payload": options.payload.word(),
        "perturbation": options.perturbation.word(),
        "seed": options.seed,
        "repetitions": options.repetitions,
    })
}

/// Reads what [`discovery`] wrote about how a program was run.
pub fn run_from_json(value: &Value) -> Option<RunOptions> {
    let word = |name: &str| value.get(name)?.as_str();
    Some(RunOptions {
        flavour: word("flavour")?.parse().ok()?,
        // Findings of older versions do not say it.
        promise: word("promise").map_or(Some(Promise::Full), |word| word.parse().ok())?,
        style: word("style")?.parse().ok()?,
        payload: word("payload")?.parse().ok()?,
        perturbation: word("perturbation")?.parse().ok()?,
        seed: value.get("seed")?.as_u64()?,
        // A finding from elsewhere may ask for any number.
        repetitions: value.get("repetitions")?.as_u64()?.clamp(1, MOST_REPETITIONS),
        patience: crate::recipe::PATIENCE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_called_by_what_it_is() {
        let table = [
            ("java.lang.StackOverflowError\n  at kotlinx.x(A.kt:9)", "overflows its stack"),
            ("thread 'main' has overflowed its stack: stack overflow", "overflows its stack"),
            ("runtime: goroutine stack exceeds 1000000000-byte limit", "overflows its stack"),
            ("java.lang.IllegalStateException: Already resumed 17", "throws IllegalStateException"),
            ("index out of bounds: the len is 3 but the index is 9", "panics"),
            ("", "panics"),
        ];
        for (message, expected) in table {
            assert_eq!(panicked(message), expected, "{message}");
        }
    }
}
