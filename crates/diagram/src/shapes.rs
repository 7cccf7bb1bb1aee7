//! What a picture is made of, in pixels.

/// A text. Its box begins at `x` and is at most `room` wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) x: i32,
    /// The line that letters stand on.
    pub(crate) y: i32,
    pub(crate) size: u32,
    pub(crate) class: &'static str,
    /// As it is shown.
    pub(crate) shown: String,
    /// The whole text, if that is longer.
    pub(crate) full: Option<String>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) from: (i32, i32),
    pub(crate) to: (i32, i32),
    /// Where it bends, if it does.
    pub(crate) via: Option<(i32, i32)>,
    pub(crate) class: String,
    /// What is said about it when it is pointed at.
    pub(crate) title: String,
    /// Does it end in a head?
    pub(crate) is_arrow: bool,
}

/// A mark at an event or at the end of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: (i32, i32),
    pub(crate) kind: MarkKind,
    pub(crate) title: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// An event.
    Event,
    /// The start of a lane.
    Start,
    /// An event that is wrong.
    Bad,
    /// A lane that waits forever.
    Waiting,
    /// A lane that has finished.
    Finished,
}

/// The whole picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) lines: Vec<Line>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) texts: Vec<Text>,
}

impl Picture {
    pub(crate) fn line(&mut self, class: impl Into<String>, from: (i32, i32), to: (i32, i32)) {
        let (class, title) = (class.into(), String::new());
        self.lines.push(Line { from, to, via: None, class, title, is_arrow: false });
    }
}
