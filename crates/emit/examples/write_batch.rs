//! `write_batch LANGUAGE COUNT SEED FOLDER`: writes a batch of generated programs as files.

use std::path::Path;

use strait_calculus::Program;
use strait_emit::{Era, Language, batch};
use strait_generate::{Config, Generator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [language, count, seed, folder] = arguments.as_slice() else {
        return Err("usage: write_batch LANGUAGE COUNT SEED FOLDER".into());
    };
    let language: Language = language.parse()?;
    let config = Config { capabilities: language.capabilities(), ..Config::default() };
    let generator = Generator::new(seed.parse()?, config)?;
    let programs: Vec<Program> =
        (0..count.parse()?).map(|index| generator.generate(index).program).collect();
    let programs: Vec<&Program> = programs.iter().collect();
    for (path, content) in batch(language, Era::Modern, &programs)? {
        let path = Path::new(folder).join(path);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, content)?;
    }
    Ok(())
}
