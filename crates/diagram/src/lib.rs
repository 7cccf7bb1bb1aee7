#![doc = include_str!("../README.md")]

mod check;
mod columns;
mod files;
mod layout;
mod measure;
mod model;
mod overlap;
mod perfetto;
mod shapes;
mod shiviz;
mod svg;
mod text;
mod track;
mod view;

pub use check::{Invalid, MAX_BYTES};
pub use files::{PERFETTO_FILE, SHIVIZ_FILE, SVG_FILE, files};
pub use model::{
    Arrow, ArrowKind, Diagram, End, EndState, Event, EventId, Lane, LaneId, Lock, SourcePlace,
    Tone, Wait,
};
pub use overlap::overlapping_texts;
pub use perfetto::perfetto;
pub use shiviz::{SHIVIZ_EXPRESSION, shiviz};
pub use svg::{SVG_STYLE, embedded_svg, svg};
pub use track::Tracker;
