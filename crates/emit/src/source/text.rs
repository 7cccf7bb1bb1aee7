//! Lines with their indentation.

/// A text that grows line by line.
#[derive(Debug)]
pub struct Text {
    text: String,
    unit: &'static str,
    depth: usize,
}

impl Text {
    /// An empty text; `unit` is one level of indentation.
    pub fn new(unit: &'static str) -> Self {
        Text { text: String::new(), unit, depth: 0 }
    }

    /// One line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            (0..self.depth).for_each(|_| self.text.push_str(self.unit));
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Lines from here on stand one level deeper.
    pub fn indent(&mut self) {
        self.depth += 1;
    }

    /// Lines from here on stand one level higher.
    pub fn outdent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }
}
