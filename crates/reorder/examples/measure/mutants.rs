//! Generated programs as tests: the files that `strait gen --mutants --format go --out DIR` writes
//! become packages of a module, below `bug` if the explorer has labelled them with a deadlock or a leak,
//! below `fixed` if they terminate. Then `measure suite` can be let loose on the module.

use std::fs;
use std::path::Path;

use crate::campaign::Outcome;

/// Runs the program as its own `main` would, without printing.
const TEST: &str = "package m

import \"testing\"

func TestProgram(t *testing.T) {
	r := &run{}
	p := r.process(\"main\")
	program(p)
	p.end()
	r.group.Wait()
}
";

/// Makes the module.
pub fn write(from: &Path, module: &Path) -> Outcome<()> {
    fs::create_dir_all(module)?;
    fs::write(module.join("go.mod"), "module strait.local/mutants\n\ngo 1.24\n")?;
    let (mut faulty, mut fine) = (0, 0);
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let kind = match name.rsplit('-').next() {
            Some("deadlock" | "leak") => "bug",
            Some("terminates") => "fixed",
            // `SEED-INDEX`: no mutant, so it terminates.
            _ if name.split('-').count() == 2 => "fixed",
            _ => continue,
        };
        let count = if kind == "bug" { &mut faulty } else { &mut fine };
        *count += 1;
        let package = module.join(kind).join(format!("m{}", name.replace('-', "_")));
        fs::create_dir_all(&package)?;
        fs::write(package.join("m.go"), without_main(&fs::read_to_string(&path)?))?;
        fs::write(package.join("m_test.go"), TEST)?;
    }
    println!("{faulty} programs that may block, {fine} that do not");
    Ok(())
}

/// The program as a package that can be tested.
fn without_main(source: &str) -> String {
    let source = source.replacen("package main", "package m", 1);
    let Some(begin) = source.find("// main runs the program once") else { return source };
    let end = source[begin..].find("\n}\n").map_or(source.len(), |end| begin + end + 3);
    let rest = format!("{}{}", &source[..begin], &source[end..]);
    if rest.contains("fmt.") { rest } else { rest.replacen("\t\"fmt\"\n", "", 1) }
}
