//! Channels as `crossbeam-channel` has them: limits of time, select as a macro, and what is there at
//! some time or never.

use std::time::Duration;

use strait::{channel, thread};

use crate::primitives::check;

#[test]
fn those_who_wait_only_for_a_while_meet_each_other() {
    const WHILE: Duration = Duration::from_millis(20);
    let program = || {
        let (sender, receiver) = channel::bounded::<u8>(0);
        let other = thread::spawn(move || sender.send_timeout(1, WHILE).is_ok());
        let got = receiver.recv_timeout(WHILE).is_ok();
        (got, other.join().unwrap())
    };
    // Either both have met, or the time was over for both.
    check(program, &[(false, false), (true, true)]);

    let program = || {
        let (sender, receiver) = channel::bounded::<u8>(0);
        let other = thread::spawn(move || sender.try_send(1).is_ok());
        let got = receiver.recv_timeout(WHILE).is_ok();
        (got, other.join().unwrap())
    };
    check(program, &[(false, false), (true, true)]);
}

#[test]
fn the_select_macro_performs_what_it_has_chosen() {
    let program = || {
        let (to_one, one) = channel::unbounded();
        let (two, from_two) = channel::bounded(1);
        let (_never, nothing) = channel::unbounded::<u8>();
        let other = thread::spawn(move || to_one.send(1).unwrap());
        let mut made = 0;
        let chosen = channel::select! {
            recv(one) -> message => message.unwrap(),
            send(two, { made += 1; 7 }) -> sent => { sent.unwrap(); 2 }
            recv(nothing) -> message => match message {
                Ok(_) => 3,
                Err(_) => 4,
            },
            default(Duration::from_millis(1)) => 5,
        };
        other.join().unwrap();
        (chosen, made, from_two.try_recv().ok())
    };
    // There is room for a message, so the time is never over.
    check(program, &[(1, 0, None), (2, 1, Some(7))]);
}

#[test]
fn the_select_macro_leaves_loops_and_functions() {
    fn sum(messages: &channel::Receiver<u32>, stop: &channel::Receiver<()>) -> Option<u32> {
        let mut sum = 0;
        loop {
            channel::select! {
                recv(messages) -> message => sum += message.ok()?,
                recv(stop) -> _ => break,
            }
        }
        Some(sum)
    }
    let program = || {
        let (sender, messages) = channel::unbounded();
        let (stopper, stop) = channel::bounded(1);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            stopper.send(()).unwrap();
            sender
        });
        let got = sum(&messages, &stop);
        drop(other.join().unwrap());
        got
    };
    check(program, &[Some(0), Some(1), Some(3)]);
}

#[test]
fn a_time_comes_before_or_after_anything() {
    let program = || {
        let (sender, receiver) = channel::bounded(1);
        let other = thread::spawn(move || sender.send(1).unwrap());
        let first = channel::select! {
            recv(receiver) -> message => message.ok(),
            recv(channel::after(Duration::from_secs(1))) -> _ => None,
            recv(channel::never::<()>()) -> _ => Some(9),
        };
        let rest: Vec<u8> = receiver.into_iter().collect();
        other.join().unwrap();
        (first, rest)
    };
    check(program, &[(None, vec![1]), (Some(1), vec![])]);
}
