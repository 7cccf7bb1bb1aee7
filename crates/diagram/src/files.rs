//! The three files of a diagram, as a finding's folder has them.

use crate::model::Diagram;
use crate::{perfetto, shiviz, svg};

/// The picture.
pub const SVG_FILE: &str = "diagram.svg";
/// The trace for Perfetto, which also holds the diagram itself.
pub const PERFETTO_FILE: &str = "diagram.json";
/// The log for ShiViz.
pub const SHIVIZ_FILE: &str = "diagram.shiviz.log";

/// Names and contents of all files.
pub fn files(diagram: &Diagram) -> [(&'static str, String); 3] {
    let diagram = &diagram.clone().bounded();
    [(SVG_FILE, svg(diagram)), (PERFETTO_FILE, perfetto(diagram)), (SHIVIZ_FILE, shiviz(diagram))]
}
