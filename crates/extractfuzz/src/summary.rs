//! The summary of a campaign as text: counts, a table of families, and what is not exact.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::campaign::Finished;
use crate::judge::{Category, Judged};

/// The lines that are shown of each category.
const SHOWN: usize = 40;

/// Displays a finished campaign.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The campaign.
    pub finished: &'a Finished,
    /// The random seed.
    pub seed: u64,
    /// Whether gadgets are listed too.
    pub gadgets: bool,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judged = &self.finished.judged;
        let total = judged.len();
        let wall = self.finished.wall;
        let each = wall.checked_div(total as u32).unwrap_or(Duration::ZERO);
        writeln!(f, "seed {}: {total} programs in {wall:.1?}, {each:.1?} per program", self.seed)?;
        for category in Category::ALL {
            let count = judged.iter().filter(|one| one.category == category).count();
            let rate = 100.0 * count as f64 / total.max(1) as f64;
            writeln!(f, "  {category:14} {count:6}  {rate:5.1} %")?;
        }
        writeln!(f)?;
        table(f, "family", judged, |one| vec![one.program.family.to_owned()])?;
        if self.gadgets {
            writeln!(f)?;
            table(f, "gadget", judged, |one| one.program.gadgets.clone())?;
        }
        for category in Category::ALL.into_iter().skip(1).rev() {
            reasons(f, category, judged)?;
        }
        Ok(())
    }
}

fn table(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    judged: &[Judged],
    names: impl Fn(&Judged) -> Vec<String>,
) -> fmt::Result {
    let mut rows: BTreeMap<String, [usize; Category::ALL.len()]> = BTreeMap::new();
    for one in judged {
        for name in names(one) {
            rows.entry(name).or_default()[one.category as usize] += 1;
        }
    }
    write!(f, "{title:36}")?;
    for category in Category::ALL {
        write!(f, " {category:>13}")?;
    }
    writeln!(f)?;
    for (name, counts) in rows {
        write!(f, "{name:36}")?;
        for count in counts {
            write!(f, " {count:13}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// The reasons of a category, the most frequent first, each with a program that shows it.
fn reasons(f: &mut fmt::Formatter<'_>, category: Category, judged: &[Judged]) -> fmt::Result {
    let mut groups: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for one in judged.iter().filter(|one| one.category == category) {
        let gadgets = one.program.gadgets.join(" ");
        groups.entry((without_places(&one.reason), gadgets)).or_default().push(one.program.index);
    }
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{category}:")?;
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, indices)| std::cmp::Reverse(indices.len()));
    for ((reason, gadgets), indices) in groups.iter().take(SHOWN) {
        writeln!(f, "  {:4}  program {:5}  {gadgets}  {reason}", indices.len(), indices[0])?;
    }
    if groups.len() > SHOWN {
        writeln!(f, "  and {} more", groups.len() - SHOWN)?;
    }
    Ok(())
}

/// The reason without positions and numbers, so that equal causes are counted together.
fn without_places(reason: &str) -> String {
    let words = reason.split(' ').map(|word| if word.contains(".go:") { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}
