//! The columns of a picture: how wide each lane is, what stands beside its events and below it, and which
//! bars its locks are drawn as.

use crate::measure::{shortened, width, wrapped};
use crate::model::{Event, Lane, LaneId, SourcePlace};
use crate::view::View;

/// Sizes of fonts.
pub(crate) const TEXT: u32 = 12;
pub(crate) const SMALL: u32 = 10;
/// From a lane to its texts.
pub(crate) const INDENT: i32 = 11;
/// Between bars of locks.
pub(crate) const BAR: i32 = 7;
/// From the text of one column to the bars of the next.
const GUTTER: i32 = 18;
/// The least room of a column for text.
const LEAST: u32 = 104;
/// Lines of the text at the end of a lane.
const END_LINES: usize = 3;

/// A lane in the picture.
pub(crate) struct Column {
    pub(crate) lane: LaneId,
    /// Where its line is.
    pub(crate) x: i32,
    /// Where it ends.
    pub(crate) right: i32,
    /// The most that a text may take.
    pub(crate) room: u32,
    pub(crate) locks: Vec<Bar>,
    /// What is said at its end.
    pub(crate) end: Vec<String>,
    pub(crate) end_place: Option<String>,
}

/// A lock as a bar beside the lane.
pub(crate) struct Bar {
    /// Its place in the list of locks.
    pub(crate) lock: usize,
    /// How far from the lane, from 0.
    pub(crate) level: i32,
}

/// Do places take a line of their own?
pub(crate) fn names_files(view: &View<'_>) -> bool {
    let has_file =
        |place: &Option<SourcePlace>| place.as_ref().is_some_and(|place| place.file.is_some());
    let lanes = view.lanes.iter().map(|lane| &view.diagram.lanes[lane.index()]);
    view.diagram.events.iter().any(|event| has_file(&event.place))
        || lanes.into_iter().any(|lane| has_file(&lane.end.place))
}

/// `pool.go:23`, or `line 23`; of a long path the last part.
pub(crate) fn place_text(place: &SourcePlace) -> String {
    match &place.file {
        Some(file) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{name}:{}", place.line)
        }
        None => format!("line {}", place.line),
    }
}

/// What stands beside an event, if places have no line of their own.
pub(crate) fn label(event: &Event, digits: usize, names_files: bool) -> String {
    match &event.place {
        Some(place) if !names_files && !event.label.is_empty() => {
            format!("{:>digits$} {}", place.line, event.label)
        }
        _ => event.label.clone(),
    }
}

/// Digits of the longest line number.
pub(crate) fn digits(view: &View<'_>) -> usize {
    let places = view.diagram.events.iter().filter_map(|event| event.place.as_ref());
    places.map(|place| place.line.to_string().len()).max().unwrap_or(0)
}

/// The columns from left to right.
pub(crate) fn columns(view: &View<'_>, left: i32) -> Vec<Column> {
    let most = match view.lanes.len() {
        0..=3 => 300,
        4..=6 => 230,
        _ => 170,
    };
    let (digits, names_files) = (digits(view), names_files(view));
    let mut begin = left;
    let mut columns = Vec::new();
    for lane in &view.lanes {
        let locks = bars(view, *lane);
        let levels = locks.iter().map(|bar| bar.level + 1).max().unwrap_or(0);
        let x = begin + 6 + BAR * levels;
        let about = &view.diagram.lanes[lane.index()];
        let mut room = LEAST.max(fitting(&about.name, TEXT, most));
        for (event, _) in view.events(*lane) {
            room = room.max(fitting(&label(event, digits, names_files), TEXT, most));
            if let Some(place) = event.place.as_ref().filter(|_| names_files) {
                room = room.max(fitting(&place_text(place), SMALL, most));
            }
        }
        let (end, end_place) = end_texts(about);
        // The end may take several lines, so it widens the column only so far.
        room = room.max(fitting(&about.end.label, TEXT, most.min(200)));
        let end = wrapped(&end, TEXT, room, END_LINES);
        let end_place = end_place.map(|place| shortened(&place, SMALL, room));
        let right = x + INDENT + room as i32;
        columns.push(Column { lane: *lane, x, right, room, locks, end, end_place });
        begin = right + GUTTER;
    }
    columns
}

/// The width of a text, or the most that it may take.
fn fitting(text: &str, size: u32, most: u32) -> u32 {
    width(&shortened(text, size, most), size)
}

fn end_texts(lane: &Lane) -> (String, Option<String>) {
    (lane.end.label.clone(), lane.end.place.as_ref().map(place_text))
}

/// The locks of a lane, each as near to it as others leave room.
fn bars(view: &View<'_>, lane: LaneId) -> Vec<Bar> {
    let mut ends: Vec<u32> = Vec::new();
    let mut bars = Vec::new();
    for (number, lock) in
        view.diagram.locks.iter().enumerate().filter(|(_, lock)| lock.lane == lane)
    {
        let Some(from) = view.event(lock.from) else { continue };
        let to = lock.to.and_then(|to| view.event(to)).map_or(u32::MAX, |event| event.row);
        let free = ends.iter().position(|end| *end < from.row);
        let level = free.unwrap_or(ends.len());
        match ends.get_mut(level) {
            Some(end) => *end = to,
            None => ends.push(to),
        }
        bars.push(Bar { lock: number, level: level as i32 });
    }
    bars
}
