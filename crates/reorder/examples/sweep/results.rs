//! What a sweep writes down: a log with one line per campaign, which says how long the sweep has run in
//! all, and the table of all results.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Result;

/// The log.
pub struct Log(PathBuf);

impl Log {
    /// In the folder of the sweep.
    pub fn of(folder: &Path) -> Self {
        Log(folder.join("log.jsonl"))
    }

    /// One line more.
    pub fn add(&self, document: &Value) -> Result<()> {
        let ended = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let entry = json!({
            "ended": ended,
            "seconds": document["seconds"].as_u64().unwrap_or_default(),
            "round": document["round"],
            "module": document["module"],
            "version": document["version"],
            "runs": document["campaign"]["runs"],
            "errors": findings(document).iter().filter(|one| one["level"] == "error").count(),
        });
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.0)?;
        writeln!(file, "{entry}")?;
        Ok(())
    }

    /// Seconds of all campaigns.
    fn seconds(&self) -> Result<u64> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let entries = text.lines().map(serde_json::from_str::<Value>);
        let seconds = entries.map(|entry| Ok(entry?["seconds"].as_u64().unwrap_or_default()));
        seconds.sum()
    }
}

fn findings(document: &Value) -> &[Value] {
    document["campaign"]["findings"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A result in one line.
pub fn line(document: &Value) -> String {
    if let Some(problem) = document["problem"].as_str() {
        return format!("not fuzzed: {}", problem.lines().next().unwrap_or_default());
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings(document) {
        let text = |name: &str| finding[name].as_str().unwrap_or("?").to_owned();
        let place = match (finding["idle"] == true, finding["library"] == true) {
            (true, _) => "not closed",
            (false, true) => "in library code",
            (false, false) => "in a test",
        };
        let class = format!("{} {} {place}", text("level"), text("class"));
        *counts.entry(class).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(class, count)| format!("{count} {class}")).collect();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    let said = document["said"].as_str().unwrap_or_default().trim();
    let said = if said.is_empty() { String::new() } else { format!("; {said}") };
    let campaign = &document["campaign"];
    format!(
        "{} in round {}, {} tests, {} runs, {} s: {counts}{said}",
        document["version"].as_str().unwrap_or_default(),
        document["round"],
        campaign["tests"],
        campaign["runs"],
        document["seconds"]
    )
}

/// All results, one line each, and the time that they took.
pub fn summary(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    for round in fs::read_dir(folder.join("results"))? {
        for file in fs::read_dir(round?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    println!("\n{} campaigns, {:.1} hours:", files.len(), hours(folder)?);
    for file in files {
        let document: Value = serde_json::from_slice(&fs::read(&file)?)?;
        println!("{} {}", document["module"].as_str().unwrap_or_default(), line(&document));
    }
    Ok(())
}

fn hours(folder: &Path) -> Result<f64> {
    Ok(Log::of(folder).seconds()? as f64 / 3600.0)
}
