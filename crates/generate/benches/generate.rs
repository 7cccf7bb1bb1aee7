//! Programs per second on one core: effect generation and program building, no printing.

use divan::Bencher;
use divan::counter::ItemsCount;
use strait_generate::{Config, Generator, Heuristic};

fn main() {
    divan::main();
}

const BATCH: u64 = 1000;

fn heuristics() -> impl Iterator<Item = &'static str> {
    Heuristic::ALL.into_iter().map(Heuristic::name)
}

/// The bar is 50,000 programs per second for F.
#[divan::bench(args = heuristics())]
fn programs(bencher: Bencher<'_, '_>, heuristic: &str) {
    let weights = Heuristic::named(heuristic).expect("listed above").weights();
    let config = Config { weights, ..Config::default() };
    let generator = Generator::new(1, config).expect("the presets are right");
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for index in 0..BATCH {
            divan::black_box(generator.generate(index));
        }
    });
}

/// How the cost grows with the size.
#[divan::bench(args = [5, 16, 50, 200, 1000])]
fn sizes(bencher: Bencher<'_, '_>, size: u32) {
    let generator =
        Generator::new(1, Config { size, ..Config::default() }).expect("the sizes are right");
    bencher.counter(ItemsCount::new(100_u64)).bench_local(|| {
        for index in 0..100 {
            divan::black_box(generator.generate(index));
        }
    });
}
