//! Writes jobs for a worker: TARGET FLAVOUR SIZE REPETITIONS FIRST COUNT STYLE PERTURBATION PAYLOAD.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an experiment")]
use strait_generate::{Config, Generator};
use strait_runtimes::*;

fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    if a[0] == "source" {
        let source = harness_source(target(&a[1]).unwrap(), &a[2]).unwrap();
        for (path, text) in source.files {
            let path = std::path::Path::new(&a[3]).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        return;
    }
    let info = target(&a[0]).unwrap();
    let flavour = match a[1].as_str() { "threads" => Flavour::Threads, "tasks" => Flavour::Tasks, _ => Flavour::Mixed };
    let (size, repetitions, first, count): (u32, u64, u64, u64) = (a[2].parse().unwrap(), a[3].parse().unwrap(), a[4].parse().unwrap(), a[5].parse().unwrap());
    let style = match a[6].as_str() { "plain" => Style::Plain, "batched" => Style::Batched, _ => Style::Barrier };
    let perturbation = match a[7].as_str() { "none" => Perturbation::None, "light" => Perturbation::Light, _ => Perturbation::Heavy };
    let payload = match a[8].as_str() { "plain" => Payload::Plain, "boxed" => Payload::Boxed, _ => Payload::Counted };
    let contract = info.contract(flavour).unwrap();
    let config = Config { capabilities: capabilities(&contract), size: size.max(4), ..Config::default() };
    let generator = Generator::new(77, config).unwrap();
    for index in first..first + count {
        let program = match a.get(9).filter(|word| *word != "print") {
            Some(path) => strait_calculus::parse(&std::fs::read_to_string(path).unwrap()).unwrap(),
            None => if size == 3 { generator.gadget(index).program } else { generator.generate(index).program },
        };
        if a.last().is_some_and(|word| word == "print") {
            println!("{}\n----", strait_calculus::print(&if size == 3 { generator.gadget(index).program } else { generator.generate(index).program }));
            continue;
        }
        let text = lower(&program).unwrap().to_text();
        let options = RunOptions { style, flavour, payload, seed: index, repetitions, perturbation, ..RunOptions::default() };
        let line = JobLine { id: index, target: a[0].clone(), options, lines: text.lines().count() };
        println!("{}\n{}", line.to_line(), text.trim_end());
    }
}
