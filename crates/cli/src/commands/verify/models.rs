//! The models of `strait go verify` as files: each entry's program, and its graph for other model
//! checkers. An entry's files bear its name.

use std::path::Path;

use anyhow::Context;
use strait_calculus::ExamineOptions;
use strait_explore::Coverage;
use strait_golang::Entry;

use crate::commands::graphs::write_aut;
use crate::ui::Ui;

/// Writes `ENTRY.strait` and `ENTRY.aut` for each entry into a folder, which is made if need be.
pub fn write(
    ui: &Ui,
    folder: &Path,
    entries: &[Entry],
    options: &ExamineOptions<'_>,
) -> anyhow::Result<()> {
    let cannot = |path: &Path| format!("cannot write {} (--models)", path.display());
    std::fs::create_dir_all(folder).with_context(|| cannot(folder))?;
    for entry in entries {
        let name = file_name(&entry.name);
        let program = folder.join(format!("{name}.strait"));
        std::fs::write(&program, &entry.text).with_context(|| cannot(&program))?;
        let graph = folder.join(format!("{name}.aut"));
        let coverage = write_aut(&graph, &entry.program, options)?;
        if coverage != Coverage::Exhaustive {
            ui.note(format!("{} is not complete: {coverage}", graph.display()));
        }
    }
    Ok(())
}

/// A name that every file system takes: of `example.com/m.(*T).Run` it is `example.com_m._T_.Run`.
fn file_name(entry: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let letters = entry.replace("(*", "_").replace(')', "_");
    letters.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_entries_are_names_of_files() {
        assert_eq!(file_name("example.com/m.main"), "example.com_m.main");
        assert_eq!(file_name("example.com/m.(*T).Run"), "example.com_m._T_.Run");
    }
}
