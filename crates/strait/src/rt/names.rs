//! Stable numbers for threads and objects.
//!
//! A thread is "the n-th child of its parent", an object "the n-th object made by its thread": that
//! is the same in every execution that is equivalent up to there, however the threads interleave.
//! Such names become small numbers here, the same in all worlds of one search. What was made outside
//! the execution, a static above all, goes by its address.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Who is named, among those that a thread brings about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kin {
    /// The n-th thread it starts.
    Child(u32),
    /// The phantom that commits its stores (to one object, if the model says so).
    Phantom(u32),
}

/// The numbers given so far, shared by all worlds of a search.
#[derive(Default, Debug)]
struct Given {
    threads: FxHashMap<(u32, Kin), u32>,
    objects: FxHashMap<(u32, u32), u32>,
    addresses: FxHashMap<usize, u32>,
    own: FxHashMap<(u32, u8), u32>,
    next_object: u32,
}

/// One world's view of the numbers.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    given: Arc<Mutex<Given>>,
    /// For each thread its children, as far as this world has met them.
    children: Vec<Vec<u32>>,
    /// For each thread its objects, as far as this world has met them.
    objects: Vec<Vec<u32>>,
    addresses: FxHashMap<usize, u32>,
    phantoms: FxHashMap<(u32, u32), u32>,
    own: FxHashMap<(u32, u8), u32>,
}

impl Names {
    /// The number of a thread's n-th child.
    #[inline]
    pub(crate) fn child(&mut self, parent: u32, index: u32) -> u32 {
        let known = self.children.get(parent as usize).and_then(|all| all.get(index as usize));
        match known {
            Some(&number) if number != 0 => number,
            _ => self.new_child(parent, index),
        }
    }

    #[cold]
    fn new_child(&mut self, parent: u32, index: u32) -> u32 {
        let number = self.thread(parent, Kin::Child(index));
        remember(&mut self.children, parent, index, number);
        number
    }

    /// The number of the phantom that commits a thread's stores.
    pub(crate) fn phantom(&mut self, owner: u32, object: u32) -> u32 {
        if let Some(&number) = self.phantoms.get(&(owner, object)) {
            return number;
        }
        let number = self.thread(owner, Kin::Phantom(object));
        self.phantoms.insert((owner, object), number);
        number
    }

    fn thread(&self, parent: u32, kin: Kin) -> u32 {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // Number 0 is the main thread.
        let next = given.threads.len() as u32 + 1;
        *given.threads.entry((parent, kin)).or_insert(next)
    }

    /// The number of the n-th object that a thread makes.
    #[inline]
    pub(crate) fn object(&mut self, maker: u32, index: u32) -> u32 {
        let known = self.objects.get(maker as usize).and_then(|all| all.get(index as usize));
        match known {
            Some(&number) if number != 0 => number,
            _ => self.new_object(maker, index),
        }
    }

    #[cold]
    fn new_object(&mut self, maker: u32, index: u32) -> u32 {
        let number = {
            let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            // Number 0 means "not met yet" in the tables.
            let next = given.next_object + 1;
            let number = *given.objects.entry((maker, index)).or_insert(next);
            given.next_object = given.next_object.max(number);
            number
        };
        remember(&mut self.objects, maker, index, number);
        number
    }

    /// The number of the object that a thread has for a purpose.
    pub(crate) fn own(&mut self, thread: u32, purpose: u8) -> u32 {
        if let Some(&number) = self.own.get(&(thread, purpose)) {
            return number;
        }
        let number = {
            let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            let next = given.next_object + 1;
            let number = *given.own.entry((thread, purpose)).or_insert(next);
            given.next_object = given.next_object.max(number);
            number
        };
        self.own.insert((thread, purpose), number);
        number
    }

    /// Was the object with this number made outside the execution?
    pub(crate) fn is_outside(&self, object: u32) -> bool {
        self.addresses.values().any(|&number| number == object)
    }

    /// The number of an object that was made outside the execution.
    pub(crate) fn at(&mut self, address: usize) -> u32 {
        if let Some(&number) = self.addresses.get(&address) {
            return number;
        }
        let number = {
            let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            let next = given.next_object + 1;
            let number = *given.addresses.entry(address).or_insert(next);
            given.next_object = given.next_object.max(number);
            number
        };
        self.addresses.insert(address, number);
        number
    }
}

fn remember(table: &mut Vec<Vec<u32>>, row: u32, column: u32, number: u32) {
    let (row, column) = (row as usize, column as usize);
    if table.len() <= row {
        table.resize_with(row + 1, Vec::new);
    }
    if table[row].len() <= column {
        table[row].resize(column + 1, 0);
    }
    table[row][column] = number;
}
