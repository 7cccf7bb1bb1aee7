//! The texts of the corpus, for tests that do not ask what their headers promise.

use std::path::Path;

/// The name and text of every file of the corpus, in order.
pub fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let entries = std::fs::read_dir(&folder).expect("the corpus folder");
    let mut sources: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "strait"))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a readable file"))
        })
        .collect();
    sources.sort();
    assert!(sources.len() >= 40, "the corpus has shrunk to {} programs", sources.len());
    sources
}
