//! Names for people: threads by their own names or how they were started, objects by their labels or
//! kind and place of birth.

use std::path::Path;

use super::op::Place;
use super::world::World;

impl World {
    pub(crate) fn describe_thread(&self, number: u32) -> String {
        let thread = self.threads.get(number as usize);
        if let Some(owner) = thread.and_then(|thread| thread.commits_for) {
            return format!("{} (buffer)", self.describe_thread(owner));
        }
        if let Some(name) = thread.and_then(|thread| thread.name.as_deref()) {
            return name.to_owned();
        }
        if number == 0 { "main".to_owned() } else { format!("thread {number}") }
    }

    pub(crate) fn describe_object(&self, number: u32) -> String {
        let object = self.objects.get(number as usize);
        if let Some(label) = self.labels.get(&object.map_or(number, |object| object.whole)) {
            return label.clone();
        }
        match object {
            Some(object) => format!("{}@{}", object.kind, short(object.place)),
            None => format!("object {number}"),
        }
    }
}

/// File and line without the directories.
pub(crate) fn short(place: Place) -> String {
    let file = Path::new(place.file()).file_name().and_then(|name| name.to_str());
    format!("{}:{}", file.unwrap_or(place.file()), place.line())
}
