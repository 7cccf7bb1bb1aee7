//! A map; the faulty one looks whether a key is there and inserts it later.

use std::collections::BTreeMap;

use strait::sync::Mutex;
use strait_linearizability::{Linearizability, Model, Object};

use crate::{is_right, is_wrong};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operation {
    /// Inserts unless the key is there. Gives the value that is there after that.
    GetOrInsert(u8, u8),
    Remove(u8),
}

struct Map<const CORRECT: bool>(Mutex<BTreeMap<u8, u8>>);

impl<const CORRECT: bool> Object for Map<CORRECT> {
    type Operation = Operation;
    type Output = Option<u8>;

    fn make() -> Self {
        Map(Mutex::new(BTreeMap::new()))
    }

    fn perform(&self, operation: &Operation) -> Option<u8> {
        let lock = || self.0.lock().expect("no thread panics");
        match operation {
            Operation::GetOrInsert(key, value) if CORRECT => {
                Some(*lock().entry(*key).or_insert(*value))
            }
            Operation::GetOrInsert(key, value) => {
                let known = lock().get(key).copied();
                known.or_else(|| {
                    lock().insert(*key, *value);
                    Some(*value)
                })
            }
            Operation::Remove(key) => lock().remove(key),
        }
    }
}

#[derive(Clone, Default)]
struct Entries(BTreeMap<u8, u8>);

impl<const CORRECT: bool> Model<Map<CORRECT>> for Entries {
    fn perform(&mut self, operation: &Operation) -> Option<u8> {
        match operation {
            Operation::GetOrInsert(key, value) => Some(*self.0.entry(*key).or_insert(*value)),
            Operation::Remove(key) => self.0.remove(key),
        }
    }
}

fn operations() -> Linearizability<Operation> {
    let insert = |value| Operation::GetOrInsert(1, value);
    let operations = [insert(1), insert(2), Operation::Remove(1)];
    Linearizability::new(operations).operations_per_thread(1).before(1).after(1)
}

#[test]
fn a_map_that_looks_first_is_wrong() {
    is_wrong::<Map<false>, Entries>(&operations());
}

#[test]
fn a_map_is_right() {
    is_right::<Map<true>, Entries>(&operations());
}
