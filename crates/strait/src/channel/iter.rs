//! The messages of a channel, one after the other.

use super::Receiver;

/// The messages of a channel until it is disconnected.
#[derive(Debug)]
pub struct Iter<'r, T>(pub(super) &'r Receiver<T>);

/// The messages of a channel until none is there.
#[derive(Debug)]
pub struct TryIter<'r, T>(pub(super) &'r Receiver<T>);

/// The messages of a channel until it is disconnected, with the channel.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'r, T> IntoIterator for &'r Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Iter<'r, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
