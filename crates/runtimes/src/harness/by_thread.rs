//! A process as a thread: operations block.

use std::time::Duration;

use super::actor::{Actor, Hold, Outcome, Request};
use super::payload::Word;
use super::random::{Disturbance, spin};
use super::target::{Answer, Offer, Target};

/// Runs a process to its end on this thread.
pub fn drive<T: Target, W: Word>(mut actor: Actor<T, W>) {
    while !actor.instance().batch.is_open() {
        std::thread::yield_now();
    }
    if actor.is_batched() && !actor.instance().keep_pace() {
        // Somebody has no processor.
        std::thread::yield_now();
    }
    while let Some(at) = actor.next_wait() {
        disturb(actor.disturbance());
        let request = match actor.request(at) {
            Ok(request) => request,
            Err(why) => return actor.instance().job.go_astray(why),
        };
        actor.line_up(false);
        let outcome = perform(&mut actor, request);
        actor.answer(at, outcome);
    }
    actor.finish();
}

fn disturb(disturbance: Disturbance) {
    match disturbance {
        Disturbance::Nothing => {}
        Disturbance::Spin(rounds) => spin(rounds),
        Disturbance::Yield(times) => (0..times).for_each(|_| std::thread::yield_now()),
        Disturbance::Sleep(duration) => std::thread::sleep(duration),
    }
}

fn perform<T: Target, W: Word>(actor: &mut Actor<T, W>, request: Request<T, W>) -> Outcome<W> {
    let Request { holds, has_default, has_timeout } = request;
    if has_default {
        return without_waiting(actor, holds);
    }
    let patience = has_timeout.then(|| actor.endurance());
    let mut holds = holds;
    if holds.len() > 1 {
        return select(holds, patience);
    }
    let Some((case, hold)) = holds.pop() else {
        return Outcome::Timeout;
    };
    let answer = match (hold, patience) {
        (Hold::Put(sender, word), None) => Some(T::put(&sender, word)),
        (Hold::Get(receiver), None) => Some(T::get(&receiver)),
        (Hold::Put(sender, word), Some(patience)) => T::put_within(&sender, word, patience),
        (Hold::Get(receiver), Some(patience)) => T::get_within(&receiver, patience),
    };
    answer.map_or(Outcome::Timeout, |answer| Outcome::Done(case, answer))
}

/// Tries each case once.
pub fn without_waiting<T: Target, W: Word>(
    actor: &mut Actor<T, W>,
    mut holds: Vec<(usize, Hold<T, W>)>,
) -> Outcome<W> {
    let first = actor.rotation(holds.len());
    holds.rotate_left(first);
    for (case, hold) in holds {
        let answer = match hold {
            Hold::Put(sender, word) => T::try_put(&sender, word),
            Hold::Get(receiver) => T::try_get(&receiver),
        };
        if let Some(answer) = answer {
            return Outcome::Done(case, answer);
        }
    }
    Outcome::Default
}

fn select<T: Target, W: Word>(
    holds: Vec<(usize, Hold<T, W>)>,
    patience: Option<Duration>,
) -> Outcome<W> {
    enum Kept<T: Target, W: Word> {
        Sender(std::sync::Arc<T::Sender<W>>),
        Receiver(std::sync::Arc<T::Receiver<W>>),
    }
    let mut cases = Vec::with_capacity(holds.len());
    let mut kept: Vec<(Kept<T, W>, Option<W>)> = Vec::with_capacity(holds.len());
    for (case, hold) in holds {
        cases.push(case);
        kept.push(match hold {
            Hold::Put(sender, word) => (Kept::Sender(sender), Some(word)),
            Hold::Get(receiver) => (Kept::Receiver(receiver), None),
        });
    }
    let offers = kept.iter_mut().map(|(end, word)| match (&*end, word.take()) {
        (Kept::Sender(sender), Some(word)) => Some(Offer::Put(&**sender, word)),
        (Kept::Receiver(receiver), _) => Some(Offer::Get(&**receiver)),
        (Kept::Sender(_), None) => None,
    });
    let offers = offers.flatten().collect();
    match T::select(offers, patience) {
        None => Outcome::Timeout,
        Some((position, answer)) => match cases.get(position) {
            Some(case) => Outcome::Done(*case, answer),
            None => Outcome::Done(0, Answer::Unsupported),
        },
    }
}
