//! From a diagram to shapes: a column per lane, a row per step, below them how each lane ends, which lane waits
//! for which, and a legend. Every text has a box of its own.

use std::collections::BTreeMap;

use crate::columns::{
    BAR, Column, INDENT, SMALL, TEXT, columns, digits, label, names_files, place_text,
};
use crate::measure::{shortened, width, wrapped};
use crate::model::{ArrowKind, Diagram, EndState, Event, Lane, LaneId, Tone, Wait};
use crate::shapes::{Line, Mark, MarkKind, Picture, Text};
use crate::text::visible;
use crate::view::{Row, View};

const MARGIN: i32 = 16;
const TITLE: u32 = 14;
/// The least width, so that titles have room.
const NARROWEST: i32 = 560;
/// Colours of locks.
const COLOURS: usize = 6;
/// The most locks in the legend.
const LEGEND: usize = 12;

/// Draws a diagram.
pub(crate) fn layout(diagram: &Diagram) -> Picture {
    let view = View::new(diagram);
    let columns = columns(&view, MARGIN);
    let right = columns.last().map_or(MARGIN, |last| last.right);
    let mut painter = Painter {
        names_files: names_files(&view),
        digits: digits(&view),
        colours: colours(diagram),
        width: (right + MARGIN).max(NARROWEST).max(waits_width(&view, &columns)),
        row_height: 0,
        top: 0,
        picture: Picture::default(),
        columns,
        view,
    };
    painter.row_height = if painter.names_files { 42 } else { 28 };
    painter.heading();
    let bottom = painter.top + painter.row_height * painter.view.rows.len() as i32;
    painter.lanes(bottom);
    painter.locks(bottom);
    painter.arrows();
    painter.events();
    let below = painter.ends(bottom);
    let below = painter.waits(below);
    painter.legend(below);
    painter.picture
}

/// What is said about a lane that waits.
fn wait_text(diagram: &Diagram, wait: &Wait) -> String {
    let name = |lane: LaneId| diagram.lanes.get(lane.index()).map_or("", |lane| lane.name.as_str());
    let (waits, holds, what) = (name(wait.lane), name(wait.holder), &wait.what);
    match wait.lane == wait.holder {
        true => format!("{waits} waits for {what}, which it holds itself"),
        false => format!("{waits} waits for {what}, held by {holds}"),
    }
}

/// The width that these texts need, within reason.
fn waits_width(view: &View<'_>, columns: &[Column]) -> i32 {
    let needed = |wait: &Wait| {
        let (from, to) = (view.column(wait.lane)?, view.column(wait.holder)?);
        let begin = columns[from].x.min(columns[to].x) + 6;
        Some(begin + width(&visible(&wait_text(view.diagram, wait)), SMALL) as i32 + MARGIN)
    };
    view.diagram.waits.iter().filter_map(needed).max().unwrap_or(0).min(1000)
}

/// A colour for each lock that is named.
fn colours(diagram: &Diagram) -> BTreeMap<String, usize> {
    let mut colours = BTreeMap::new();
    for lock in &diagram.locks {
        let next = colours.len() % COLOURS;
        colours.entry(lock.object.clone()).or_insert(next);
    }
    colours
}

struct Painter<'a> {
    view: View<'a>,
    columns: Vec<Column>,
    names_files: bool,
    digits: usize,
    colours: BTreeMap<String, usize>,
    width: i32,
    row_height: i32,
    /// Where the rows begin.
    top: i32,
    picture: Picture,
}

impl<'a> Painter<'a> {
    /// Adds a text, cut to its room.
    fn text(&mut self, (x, y): (i32, i32), size: u32, class: &'static str, text: &str, room: u32) {
        let shown = shortened(text, size, room);
        if !shown.is_empty() {
            let full = shown.ends_with('…').then(|| text.to_owned());
            self.picture.texts.push(Text { x, y, size, class, shown, full });
        }
    }

    /// Where a row is.
    fn y(&self, place: usize) -> i32 {
        self.top + self.row_height * (place as i32 + 1)
    }

    fn lane(&self, column: usize) -> &'a Lane {
        &self.view.diagram.lanes[self.columns[column].lane.index()]
    }

    /// Title, description and the names of the lanes.
    fn heading(&mut self) {
        let room = (self.width - 2 * MARGIN) as u32;
        let mut y = MARGIN + 12;
        for line in wrapped(&self.view.diagram.title, TITLE, room, 3) {
            self.text((MARGIN, y), TITLE, "title", &line, room);
            y += 19;
        }
        for line in wrapped(&self.view.diagram.description, TEXT, room, 4) {
            self.text((MARGIN, y), TEXT, "dim", &line, room);
            y += 16;
        }
        if self.view.left_out() > 0 {
            let text = format!("{} more lanes are not shown", self.view.left_out());
            self.text((MARGIN, y), TEXT, "dim", &text, room);
            y += 16;
        }
        y += 14;
        for column in 0..self.columns.len() {
            let (x, room, name) =
                (self.columns[column].x, self.columns[column].room, &self.lane(column).name);
            self.text((x - 4, y), TEXT, "name", name, room);
        }
        self.top = y;
    }

    /// The line of each lane: dotted before it starts, and red where it waits forever.
    fn lanes(&mut self, bottom: i32) {
        for column in 0..self.columns.len() {
            let (x, lane) = (self.columns[column].x, self.lane(column));
            let events: Vec<(&Event, usize)> =
                self.view.events(self.columns[column].lane).collect();
            let first = events.iter().find(|(event, _)| event.tone == Tone::Start);
            let first = first.map_or(self.top + 8, |(_, place)| self.y(*place));
            let last = events.last().map_or(self.top + 8, |(_, place)| self.y(*place));
            let end = end_of(bottom);
            if first > self.top + 8 {
                self.picture.line("faint", (x, self.top + 8), (x, first));
            }
            match lane.end.state {
                EndState::Finished => {
                    self.picture.line("lane", (x, first), (x, last + 9));
                    self.picture.line("faint", (x, last + 9), (x, end + 8));
                    let at = (x, last + 9);
                    self.picture.marks.push(mark(at, MarkKind::Finished, "finished"));
                }
                state => {
                    self.picture.line("lane", (x, first), (x, last));
                    let class = if state.is_bad() { "bad" } else { "lane" };
                    self.picture.line(class, (x, last), (x, end));
                    let kind = if state.is_bad() { MarkKind::Waiting } else { MarkKind::Event };
                    self.picture.marks.push(mark((x, end), kind, state.words()));
                }
            }
        }
    }

    fn locks(&mut self, bottom: i32) {
        let end = end_of(bottom);
        for column in &self.columns {
            for bar in &column.locks {
                let lock = &self.view.diagram.locks[bar.lock];
                let rows = |event| self.view.event(event).map(|event: &Event| event.row);
                let Some(from) = rows(lock.from) else { continue };
                let from = self.top + self.row_height * (self.view.place_before(from) as i32 + 1);
                let to = lock.to.and_then(rows).map_or(end, |row| {
                    self.top + self.row_height * (self.view.place_before(row) as i32 + 1)
                });
                let x = column.x - BAR * (bar.level + 1) + 1;
                let colour = self.colours.get(&lock.object).copied().unwrap_or(0);
                let held = if lock.to.is_none() { ", still held at the end" } else { "" };
                self.picture.lines.push(Line {
                    from: (x, from),
                    to: (x, to.max(from + 3)),
                    via: None,
                    class: format!("lock k{colour}"),
                    title: format!("holds {}{held}", lock.object),
                    is_arrow: false,
                });
            }
        }
    }

    fn arrows(&mut self) {
        for arrow in &self.view.diagram.arrows {
            let end = |event| {
                let event: &Event = self.view.event(event)?;
                let column = self.view.column(event.lane)?;
                let place = self.view.place(event.row)?;
                let y = self.top + self.row_height * (place as i32 + 1);
                Some(((self.columns[column].x, y), self.columns[column].right))
            };
            let (Some((from, _)), Some((to, right))) = (end(arrow.from), end(arrow.to)) else {
                continue;
            };
            // From the right it comes in below the text of its end, not across it.
            let bends = from.0 > to.0 && from.1 != to.1;
            let via = bends.then(|| (right.min(from.0 - 12), to.1));
            if from == to {
                continue;
            }
            let (class, what) = match arrow.kind {
                ArrowKind::Message => ("message", "message"),
                ArrowKind::Start => ("start", "starts"),
                ArrowKind::Unblock => ("unblock", "lets go on"),
            };
            let title = format!("{what} {}", arrow.label);
            let class = class.to_owned();
            self.picture.lines.push(Line { from, to, via, class, title, is_arrow: true });
        }
    }

    fn events(&mut self) {
        for (place, row) in self.view.rows.clone().into_iter().enumerate() {
            if let Row::Gap(rows) = row {
                let room = (self.width - 2 * MARGIN) as u32;
                let text = format!("… {rows} steps are not shown …");
                let y = self.y(place) - 6;
                self.text((MARGIN + INDENT, y), TEXT, "dim", &text, room);
            }
        }
        for column in 0..self.columns.len() {
            let (lane, x, room) =
                (self.columns[column].lane, self.columns[column].x, self.columns[column].room);
            let events: Vec<(&Event, usize)> = self.view.events(lane).collect();
            let mut taken = BTreeMap::new();
            for (event, place) in events {
                let y = self.y(place);
                let (kind, class) = match event.tone {
                    Tone::Plain => (MarkKind::Event, "label"),
                    Tone::Start => (MarkKind::Start, "label"),
                    Tone::Bad => (MarkKind::Bad, "wrong"),
                };
                let text = label(event, self.digits, self.names_files);
                self.picture.marks.push(mark((x, y), kind, &event.label));
                // Two events of one lane in one row: only the first has room for its text.
                if event.label.is_empty() || taken.insert(place, ()).is_some() {
                    continue;
                }
                if self.names_files {
                    self.text((x + INDENT, y - 17), TEXT, class, &text, room);
                    let place = event.place.as_ref().map(place_text).unwrap_or_default();
                    self.text((x + INDENT, y - 5), SMALL, "dim", &place, room);
                } else {
                    self.text((x + INDENT, y - 6), TEXT, class, &text, room);
                }
            }
        }
    }

    /// How each lane ends. Gives the height at which the next thing may stand.
    fn ends(&mut self, bottom: i32) -> i32 {
        let begin = end_of(bottom) + 22;
        let mut lowest = begin;
        for column in 0..self.columns.len() {
            let lane = self.lane(column);
            let (x, room) = (self.columns[column].x - 4, self.columns[column].room);
            let bad = lane.end.state.is_bad();
            self.text((x, begin), TEXT, "name", &lane.name, room);
            let class = if bad { "wrong" } else { "dim" };
            self.text((x, begin + 16), TEXT, class, lane.end.state.words(), room);
            let mut y = begin + 16;
            let whole = lane.end.label.as_str();
            for line in self.columns[column].end.clone() {
                y += 16;
                let full = line.ends_with('…').then(|| whole.to_owned());
                let class = if bad { "wrong" } else { "label" };
                self.picture.texts.push(Text { x, y, size: TEXT, class, shown: line, full });
            }
            if let Some(place) = self.columns[column].end_place.clone() {
                y += 14;
                self.text((x, y), SMALL, "dim", &place, room);
            }
            lowest = lowest.max(y);
        }
        lowest + 16
    }

    /// Red arrows from lanes that wait to lanes that hold what they wait for.
    fn waits(&mut self, mut y: i32) -> i32 {
        for wait in &self.view.diagram.waits {
            let columns = (self.view.column(wait.lane), self.view.column(wait.holder));
            let (Some(from), Some(to)) = columns else { continue };
            y += 24;
            let (from, to) = (self.columns[from].x, self.columns[to].x);
            let text = wait_text(self.view.diagram, wait);
            let begin = from.min(to);
            let room = (self.width - MARGIN - begin - 6).max(0) as u32;
            self.text((begin + 6, y - 5), SMALL, "wrong", &text, room);
            if from != to {
                self.picture.lines.push(Line {
                    from: (from, y),
                    to: (to, y),
                    via: None,
                    class: "waits".to_owned(),
                    title: text,
                    is_arrow: true,
                });
            }
        }
        y
    }

    /// What lines and colours mean; ends the picture.
    fn legend(&mut self, mut y: i32) {
        let used = |kind: ArrowKind| self.view.diagram.arrows.iter().any(|one| one.kind == kind);
        let mut entries: Vec<(String, String)> = Vec::new();
        let kinds = [
            (ArrowKind::Message, "message", "message"),
            (ArrowKind::Start, "start", "starts"),
            (ArrowKind::Unblock, "unblock", "lets go on"),
        ];
        for (kind, class, words) in kinds {
            if used(kind) {
                entries.push((class.to_owned(), words.to_owned()));
            }
        }
        let ends = self.view.diagram.lanes.iter().map(|lane| lane.end.state);
        if ends.into_iter().any(|state| state == EndState::Waiting) {
            entries.push(("bad".to_owned(), "waits forever".to_owned()));
        }
        for (object, colour) in self.colours.iter().take(LEGEND) {
            entries.push((format!("lock k{colour}"), format!("holds {object}")));
        }
        if self.colours.len() > LEGEND {
            let more = self.colours.len() - LEGEND;
            entries.push(("faint".to_owned(), format!("and {more} more locks")));
        }
        let most = (self.width - 2 * MARGIN - 40).max(40) as u32;
        let mut x = MARGIN;
        y += if entries.is_empty() { 0 } else { 26 };
        for (class, words) in entries {
            let shown = shortened(&words, SMALL, most);
            let advance = 30 + width(&shown, SMALL) as i32 + 18;
            if x > MARGIN && x + advance > self.width - MARGIN {
                x = MARGIN;
                y += 18;
            }
            let is_arrow = ["message", "start", "unblock"].contains(&class.as_str());
            let (from, to, title) = ((x, y - 4), (x + 24, y - 4), String::new());
            self.picture.lines.push(Line { from, to, via: None, class, title, is_arrow });
            self.text((x + 30, y), SMALL, "dim", &words, most);
            x += advance;
        }
        self.picture.width = self.width;
        self.picture.height = y + MARGIN;
    }
}

/// Where lanes end, below the last row: far enough to be seen as waiting.
fn end_of(bottom: i32) -> i32 {
    bottom + 30
}

fn mark(at: (i32, i32), kind: MarkKind, title: &str) -> Mark {
    Mark { at, kind, title: title.to_owned() }
}
