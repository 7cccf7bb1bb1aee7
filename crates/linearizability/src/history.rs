//! Histories, and whether a sequential order explains one (Herlihy and Wing 1990; the search is that of Wing and
//! Gong 1993).

use std::collections::HashSet;
use std::fmt;

use crate::{Model, Object};

/// One operation of a history.
pub struct Event<O: Object> {
    /// The operation.
    pub operation: O::Operation,
    /// What it gave.
    pub output: O::Output,
    /// For each thread how many of its operations are known to have returned before this one was called.
    pub(crate) returned: Vec<usize>,
}

impl<O: Object> Clone for Event<O> {
    fn clone(&self) -> Self {
        let Event { operation, output, returned } = self;
        Event { operation: operation.clone(), output: output.clone(), returned: returned.clone() }
    }
}

impl<O: Object> fmt::Debug for Event<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} = {:?}", self.operation, self.output)
    }
}

/// The operations of each thread, in its order. The first and the last one are the main thread before the others
/// start and after they have ended.
pub(crate) type History<O> = Vec<Vec<Event<O>>>;

/// Is there a sequential order of the operations in which the model gives the same results?
pub(crate) fn is_explained<O: Object, M: Model<O>>(history: &History<O>) -> bool {
    let start = vec![0; history.len()];
    let mut tried = HashSet::new();
    explains::<O, M>(history, &start, &M::default(), &mut Vec::new(), &mut tried)
}

/// The same when some operations have their places already. Orders whose results are the same so far and that
/// hold the same operations may still differ in the model's state, so whole orders are remembered.
fn explains<O: Object, M: Model<O>>(
    history: &History<O>,
    placed: &[usize],
    model: &M,
    order: &mut Vec<usize>,
    tried: &mut HashSet<Vec<usize>>,
) -> bool {
    if placed.iter().zip(history).all(|(&placed, thread)| placed == thread.len()) {
        return true;
    }
    if !tried.insert(order.clone()) {
        return false;
    }
    for (thread, events) in history.iter().enumerate() {
        let Some(event) = events.get(placed[thread]) else { continue };
        let is_late = event.returned.iter().zip(placed).any(|(returned, placed)| placed < returned);
        if is_late {
            continue;
        }
        let mut model = model.clone();
        if model.perform(&event.operation) != event.output {
            continue;
        }
        let mut placed = placed.to_vec();
        placed[thread] += 1;
        order.push(thread);
        let explained = explains(history, &placed, &model, order, tried);
        order.pop();
        if explained {
            return true;
        }
    }
    false
}
