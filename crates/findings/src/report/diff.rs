//! Two programs side by side, by lines: what is equal stands beside each other.

use crate::text::html;

/// Longer programs are shown one after the other instead.
const LONGEST: usize = 600;

/// A row: the line on the left and on the right, with their numbers.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    left: Option<(usize, &'a str)>,
    right: Option<(usize, &'a str)>,
}

/// Both programs in a table; `None` if one is too long.
pub(super) fn side_by_side(left: (&str, &str), right: (&str, &str)) -> Option<String> {
    let (left_lines, right_lines): (Vec<&str>, Vec<&str>) =
        (left.1.lines().collect(), right.1.lines().collect());
    if left_lines.len().max(right_lines.len()) > LONGEST {
        return None;
    }
    let rows: String = rows(&left_lines, &right_lines).iter().map(row).collect();
    Some(format!(
        "<div class=\"scroll\"><table class=\"diff\"><thead><tr><th colspan=\"2\">{}</th><th colspan=\"2\">{}</th></tr></thead><tbody>{rows}</tbody></table></div>",
        html(left.0),
        html(right.0)
    ))
}

fn row(row: &Row<'_>) -> String {
    let differs = row.left.map(|(_, text)| text) != row.right.map(|(_, text)| text);
    let cell = |side: Option<(usize, &str)>, class: &str| match side {
        Some((number, text)) => {
            let class = if differs { class } else { "" };
            format!("<td class=\"n\">{number}</td><td class=\"{class}\">{}</td>", html(text))
        }
        None => "<td class=\"n\"></td><td class=\"absent\"></td>".to_owned(),
    };
    format!("<tr>{}{}</tr>", cell(row.left, "left"), cell(row.right, "right"))
}

/// Rows by a longest common subsequence; lines that differ at the same place share a row.
fn rows<'a>(left: &[&'a str], right: &[&'a str]) -> Vec<Row<'a>> {
    // common[i][j]: equal lines in what follows i on the left and j on the right.
    let mut common = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = match left[i] == right[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let (mut rows, mut removed, mut added) = (Vec::new(), Vec::new(), Vec::new());
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            flush(&mut rows, &mut removed, &mut added);
            rows.push(Row { left: Some((i + 1, left[i])), right: Some((j + 1, right[j])) });
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || i < left.len() && common[i + 1][j] >= common[i][j + 1] {
            removed.push((i + 1, left[i]));
            i += 1;
        } else {
            added.push((j + 1, right[j]));
            j += 1;
        }
    }
    flush(&mut rows, &mut removed, &mut added);
    rows
}

/// Lines that differ become rows.
fn flush<'a>(
    rows: &mut Vec<Row<'a>>,
    removed: &mut Vec<(usize, &'a str)>,
    added: &mut Vec<(usize, &'a str)>,
) {
    for place in 0..removed.len().max(added.len()) {
        rows.push(Row { left: removed.get(place).copied(), right: added.get(place).copied() });
    }
    removed.clear();
    added.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_stand_beside_each_other() {
        let rows = rows(&["a", "b", "c"], &["a", "x", "y", "c"]);
        let shown: Vec<(Option<usize>, Option<usize>)> = rows
            .iter()
            .map(|row| (row.left.map(|(line, _)| line), row.right.map(|(line, _)| line)))
            .collect();
        assert_eq!(
            shown,
            [(Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3)), (Some(3), Some(4))]
        );
    }

    #[test]
    fn texts_are_escaped_and_long_ones_are_refused() {
        let page = side_by_side(("<l>", "<a>"), ("<r>", "&")).expect("short");
        assert!(page.contains("&lt;a&gt;") && page.contains("&amp;") && !page.contains("<a>"));
        let long = "x\n".repeat(LONGEST + 1);
        assert_eq!(side_by_side(("", &long), ("", "")), None);
    }
}
