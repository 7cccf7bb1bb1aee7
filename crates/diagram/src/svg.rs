//! A diagram as SVG: one file that needs nothing else, with colours for light and dark screens.

use crate::layout::layout;
use crate::measure::{is_uncertain, width};
use crate::model::Diagram;
use crate::shapes::{Line, Mark, MarkKind, Picture, Text};
use crate::text::xml;

/// The style of all diagrams, for a page that has several.
pub const SVG_STYLE: &str = include_str!("style.css");

/// A file of its own.
pub fn svg(diagram: &Diagram) -> String {
    // A file has to name its language; inside a page it is known.
    let name = " xmlns=\"http://www.w3.org/2000/svg\"";
    format!("{}\n", write(diagram, name, &format!("<style>{SVG_STYLE}</style>")))
}

/// An element of an HTML page that has [`SVG_STYLE`].
pub fn embedded_svg(diagram: &Diagram) -> String {
    write(diagram, "", "")
}

fn write(diagram: &Diagram, name: &str, style: &str) -> String {
    let Picture { width, height, lines, marks, texts } = layout(diagram);
    let (title, description) = (xml(&diagram.title), xml(&spoken(diagram)));
    let mut svg = format!(
        "<svg{name} class=\"sd\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
         <title>{title}</title><desc>{description}</desc>{style}\
         <rect class=\"sd-back\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    lines.iter().for_each(|line| svg.push_str(&line_element(line)));
    marks.iter().for_each(|mark| svg.push_str(&mark_element(mark)));
    texts.iter().for_each(|text| svg.push_str(&text_element(text)));
    svg + "</svg>"
}

/// The failure in words, for those who do not see the picture.
fn spoken(diagram: &Diagram) -> String {
    let mut words = diagram.description.clone();
    for lane in diagram.lanes.iter().take(50) {
        let place = lane.end.place.as_ref().map(|place| match &place.file {
            Some(file) => format!(" at {file}:{}", place.line),
            None => format!(" at line {}", place.line),
        });
        let label = match lane.end.label.as_str() {
            "" => String::new(),
            label => format!(": {label}"),
        };
        let place = place.unwrap_or_default();
        words += &format!(" {} {}{label}{place}.", lane.name, lane.end.state.words());
    }
    words.trim().to_owned()
}

fn line_element(line: &Line) -> String {
    let Line { from: (x1, y1), to: (x2, y2), via, class, title, is_arrow } = line;
    let class: Vec<String> = class.split(' ').map(|part| format!("sd-{part}")).collect();
    let class = class.join(" ");
    let title = match title.as_str() {
        "" => String::new(),
        title => format!("<title>{}</title>", xml(title)),
    };
    // A message that a lane keeps for itself leaves it and comes back.
    let loops = *is_arrow && x1 == x2;
    let path = match loops {
        true => format!("M{x1} {y1}C{0} {y1} {0} {y2} {x2} {y2}", x1 - 26),
        false => {
            let bend = via.map(|(x, y)| format!("L{x} {y}")).unwrap_or_default();
            format!("M{x1} {y1}{bend}L{x2} {y2}")
        }
    };
    let head = match (is_arrow, loops) {
        (true, true) => head((x1 - 26, *y2), (*x2, *y2), &class),
        (true, false) => head(via.unwrap_or((*x1, *y1)), (*x2, *y2), &class),
        (false, _) => String::new(),
    };
    format!("<g>{title}<path class=\"sd-line {class}\" d=\"{path}\"/>{head}</g>\n")
}

/// The head of an arrow, a little before the lane it leads to.
fn head(from: (i32, i32), to: (i32, i32), class: &str) -> String {
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let (tip_x, tip_y) = (f64::from(to.0) - 3.0 * ux, f64::from(to.1) - 3.0 * uy);
    let (back_x, back_y) = (tip_x - 9.0 * ux, tip_y - 9.0 * uy);
    let class = match class {
        "sd-start" => "sd-head sd-head-start",
        "sd-waits" => "sd-head sd-head-waits",
        _ => "sd-head",
    };
    format!(
        "<path class=\"{class}\" d=\"M{tip_x:.1} {tip_y:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/>",
        back_x - 4.0 * uy,
        back_y + 4.0 * ux,
        back_x + 4.0 * uy,
        back_y - 4.0 * ux,
    )
}

fn mark_element(mark: &Mark) -> String {
    let Mark { at: (x, y), kind, title } = mark;
    let shape = match kind {
        MarkKind::Event => format!("<circle class=\"sd-event\" cx=\"{x}\" cy=\"{y}\" r=\"3.5\">"),
        MarkKind::Start => format!("<circle class=\"sd-begin\" cx=\"{x}\" cy=\"{y}\" r=\"4\">"),
        MarkKind::Bad => format!("<circle class=\"sd-wrong-mark\" cx=\"{x}\" cy=\"{y}\" r=\"5\">"),
        MarkKind::Waiting => format!(
            "<rect class=\"sd-wrong-mark\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\">",
            x - 6,
            y - 6
        ),
        MarkKind::Finished => format!("<path class=\"sd-line\" d=\"M{} {y}h12\">", x - 6),
    };
    let name = match kind {
        MarkKind::Waiting => "rect",
        MarkKind::Finished => "path",
        MarkKind::Event | MarkKind::Start | MarkKind::Bad => "circle",
    };
    match title.as_str() {
        "" => format!("{shape}</{name}>\n"),
        title => format!("{shape}<title>{}</title></{name}>\n", xml(title)),
    }
}

fn text_element(text: &Text) -> String {
    let Text { x, y, size, class, shown, full } = text;
    // Where fonts differ, the picture says how wide the text is.
    let length = match is_uncertain(shown) {
        true => {
            format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", width(shown, *size))
        }
        false => String::new(),
    };
    let title = full.as_ref().map(|full| format!("<title>{}</title>", xml(full)));
    format!(
        "<text class=\"sd-{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{length}>{title}{}</text>\n",
        xml(shown),
        title = title.unwrap_or_default(),
    )
}
