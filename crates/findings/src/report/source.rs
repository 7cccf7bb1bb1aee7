//! Programs and quoted source: numbered lines, with those marked at which something is wrong.

use serde_json::Value;

use super::highlight;
use crate::model::Finding;
use crate::text::html;

/// The most quotes of a finding, and the most lines of a quote.
const QUOTES: usize = 8;
const LINES: usize = 40;

/// A program with numbered lines.
pub(super) fn numbered(text: &str, marked: &[u32]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    block(&lines, 1, marked, highlight::line)
}

/// Source of any language with numbered lines.
pub(super) fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    block(&lines, 1, &[], html)
}

fn block(lines: &[&str], first: u64, marked: &[u32], show: fn(&str) -> String) -> String {
    let width = (first + lines.len() as u64).to_string().len();
    let line = |(number, text): (u64, &&str)| {
        let is_marked = marked.iter().any(|one| u64::from(*one) == number);
        let (class, note) = match is_marked {
            true => (" class=\"bad\"", "<span class=\"here\"> ◂ here</span>"),
            false => ("", ""),
        };
        format!("<span{class}><span class=\"n\">{number:>width$}</span>{}{note}</span>", show(text))
    };
    let lines: String = (first..).zip(lines).map(line).collect();
    format!("<pre class=\"program\">{lines}</pre>")
}

/// The lines of Go source that a finding quotes, as it was found.
pub(super) fn quotes(finding: &Finding) -> String {
    let quoted = finding.details.get("quoted").and_then(Value::as_array);
    quoted.into_iter().flatten().take(QUOTES).filter_map(quote).collect()
}

fn quote(value: &Value) -> Option<String> {
    let place = value.get("place")?.as_str()?;
    let first = value.get("first")?.as_u64()?;
    let marked = u32::try_from(value.get("marked")?.as_u64()?).ok()?;
    let lines = value.get("lines")?.as_array()?;
    let lines: Vec<&str> = lines.iter().take(LINES).filter_map(Value::as_str).collect();
    first.checked_add(lines.len() as u64)?;
    let shown = block(&lines, first, &[marked], html);
    Some(format!("<h4 class=\"place\">{}</h4>{shown}", html(place)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::model::Discovery;
    use crate::{Kind, Store};

    #[test]
    fn waiting_lines_are_marked() {
        let shown = numbered("main {\n  put c 1\n}", &[2]);
        assert!(
            shown.contains("<span class=\"bad\"><span class=\"n\">2</span>  <b>put</b> c"),
            "{shown}"
        );
        assert_eq!(shown.matches("◂ here").count(), 1);
    }

    #[test]
    fn quotes_from_elsewhere_are_escaped_and_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(folder.path()).expect("it opens");
        let campaign = store.campaign(1, 1, "").expect("a campaign");
        let lines: Vec<&str> = vec!["<b>"; 3000];
        let quote = json!({ "place": "<i>.go:1", "first": 1, "marked": 1, "lines": lines });
        let overflowing = json!({ "place": "x", "first": u64::MAX, "marked": 1, "lines": ["y"] });
        let mut discovery = Discovery::new(Kind::BLOCKING, "p", "1", 1, 1);
        discovery.details = BTreeMap::from([("quoted".to_owned(), json!([quote, overflowing, 3]))]);
        let batch = crate::Batch::new(campaign, "p", "1", 0..1).found(discovery);
        store.commit(&batch).expect("it fits");
        store.close().expect("it closes");
        let page = crate::report(folder.path()).expect("a page");
        assert!(page.contains("&lt;i&gt;.go:1") && !page.contains("<i>.go"));
        assert_eq!(page.matches("&lt;b&gt;").count(), LINES);
    }
}
