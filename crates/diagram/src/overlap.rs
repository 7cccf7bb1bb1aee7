//! Reads the texts of a picture back and looks for two that overlap. For tests: it knows nothing of how the
//! picture was laid out.

use crate::measure::width;

/// A text as it stands in the picture.
struct Placed {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Texts of an SVG that overlap each other or leave the picture, by the estimated widths of their letters; each
/// as a sentence. Texts have `x`, `y` and `font-size`.
pub fn overlapping_texts(svg: &str) -> Vec<String> {
    let texts: Vec<Placed> = svg.split("<text ").skip(1).filter_map(placed).collect();
    let size = |name: &str| attribute(svg, name).unwrap_or(0.0);
    let (all_width, all_height) = (size("width"), size("height"));
    let mut complaints = Vec::new();
    for (number, one) in texts.iter().enumerate() {
        if one.left < 0.0 || one.top < 0.0 || one.right > all_width || one.bottom > all_height {
            complaints.push(format!("`{}` leaves the picture", one.text));
        }
        for other in &texts[..number] {
            let apart = one.right <= other.left
                || other.right <= one.left
                || one.bottom <= other.top
                || other.bottom <= one.top;
            if !apart {
                complaints.push(format!("`{}` overlaps `{}`", one.text, other.text));
            }
        }
    }
    complaints
}

fn attribute(element: &str, name: &str) -> Option<f64> {
    let begin = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[begin..].split('"').next()?.parse().ok()
}

fn placed(element: &str) -> Option<Placed> {
    let (attributes, rest) = element.split_once('>')?;
    let attributes = format!(" {attributes}");
    let content = rest.split("</text>").next()?;
    let text = match content.split_once("</title>") {
        Some((_, text)) => text,
        None => content,
    };
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let text = text.replace("&#39;", "'").replace("&amp;", "&");
    let (x, y) = (attribute(&attributes, "x")?, attribute(&attributes, "y")?);
    let size = attribute(&attributes, "font-size")?;
    let wide = f64::from(width(&text, size as u32));
    // Letters reach from a little above capitals to the lowest descender.
    Some(Placed { left: x, right: x + wide, top: y - 0.85 * size, bottom: y + 0.25 * size, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(texts: &str) -> Vec<String> {
        overlapping_texts(&format!("<svg width=\"200\" height=\"100\">{texts}</svg>"))
    }

    #[test]
    fn overlapping_texts_are_noticed() {
        let one = "<text class=\"a\" x=\"10\" y=\"50\" font-size=\"12\">first</text>";
        assert_eq!(picture(one), Vec::<String>::new());
        let beside = "<text x=\"60\" y=\"50\" font-size=\"12\">second</text>";
        assert_eq!(picture(&format!("{one}{beside}")), Vec::<String>::new());
        let over = "<text x=\"40\" y=\"55\" font-size=\"12\"><title>all</title>a &lt; b</text>";
        assert_eq!(picture(&format!("{one}{over}")), ["`a < b` overlaps `first`"]);
        let outside = "<text x=\"180\" y=\"50\" font-size=\"12\">outside</text>";
        assert_eq!(picture(outside), ["`outside` leaves the picture"]);
    }
}
