//! Transactions: all or nothing, waiting, alternatives, exceptions.

use strait::stm::{TVar, atomically, check, retry, throw, try_atomically};
use strait::{results, thread};

#[test]
fn a_transaction_waits_for_what_it_needs() {
    let got = results(|| {
        let box_ = TVar::new(None);
        let theirs = box_.clone();
        let producer = thread::spawn(move || {
            for value in 1..=2 {
                atomically(|transaction| {
                    check(transaction.read(&theirs)?.is_none())?;
                    transaction.write(&theirs, Some(value))
                });
            }
        });
        let take = || {
            atomically(|transaction| match transaction.read(&box_)? {
                None => retry(),
                Some(value) => {
                    transaction.write(&box_, None)?;
                    Ok(value)
                }
            })
        };
        let seen = (take(), take());
        producer.join().unwrap();
        seen
    });
    assert_eq!(got, [Ok((1, 2))]);
}

#[test]
fn nobody_sees_half_a_transaction() {
    let program = || {
        let (one, other) = (TVar::new(0), TVar::new(0));
        let (theirs, others) = (one.clone(), other.clone());
        let writer = thread::spawn(move || {
            atomically(|transaction| {
                transaction.write(&theirs, 1)?;
                transaction.write(&others, 1)
            });
        });
        let seen =
            atomically(|transaction| Ok((transaction.read(&one)?, transaction.read(&other)?)));
        writer.join().unwrap();
        seen
    };
    assert_eq!(results(program), [Ok((0, 0)), Ok((1, 1))]);
    assert!([(0, 0), (1, 1)].contains(&program()), "for real");
}

#[test]
fn the_alternative_forgets_what_the_first_wrote() {
    let got = results(|| {
        let variable = TVar::new(0);
        atomically(|transaction| {
            transaction.or_else(
                |transaction| {
                    transaction.write(&variable, 1)?;
                    retry()
                },
                |transaction| transaction.modify(&variable, |value| value + 10),
            )
        });
        variable.read()
    });
    assert_eq!(got, [Ok(10)]);
}

#[test]
fn a_thrown_exception_undoes_and_can_be_caught() {
    let got = results(|| {
        let variable = TVar::new(0);
        let caught = atomically(|transaction| {
            transaction.catch(
                |transaction| {
                    transaction.write(&variable, 1)?;
                    throw("no")
                },
                |_, reason: &str| Ok(reason),
            )
        });
        let thrown = try_atomically(|transaction| -> Result<(), _> {
            transaction.write(&variable, 2)?;
            throw(7u8)
        });
        let code = thrown.expect_err("it throws").downcast_ref::<u8>().copied();
        (caught, code, variable.read())
    });
    assert_eq!(got, [Ok(("no", Some(7), 0))]);
}

#[test]
fn a_transaction_that_waits_for_nothing_is_a_deadlock() {
    let outcomes = strait::outcomes(|| {
        let variable = TVar::new(false);
        atomically(|transaction| check(transaction.read(&variable)?));
    });
    assert!(outcomes.found.len() == 1 && outcomes.found[0].outcome.is_deadlock());
}

#[test]
fn transactions_that_touch_nothing_in_common_are_tried_in_one_order() {
    let independent = strait::outcomes(|| {
        let start =
            |_| thread::spawn(|| atomically(|t| t.modify(&TVar::new(0), |value| value + 1)));
        let threads: Vec<_> = (0..6).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!((independent.executions, independent.redundant), (1, 0));
}

#[test]
fn readers_commute_with_each_other() {
    // Each of three readers comes before or after the writer.
    let outcomes = strait::outcomes(|| {
        let variable = TVar::new(0);
        let read = |_| {
            let variable = variable.clone();
            thread::spawn(move || variable.read())
        };
        let readers: Vec<_> = (0..3).map(read).collect();
        atomically(|t| t.write(&variable, 1));
        readers.into_iter().map(|reader| reader.join().unwrap()).sum::<i32>()
    });
    assert_eq!((outcomes.executions, outcomes.redundant), (8, 0));
    let mut sums: Vec<_> = outcomes.values().into_iter().copied().collect();
    sums.sort_unstable();
    assert_eq!(sums, [0, 1, 2, 3]);
}

#[test]
fn what_a_transaction_touches_may_depend_on_what_it_finds() {
    // The reader looks at the second variable only if the first is set.
    let got = results(|| {
        let (flag, data) = (TVar::new(false), TVar::new(0));
        let (their_flag, their_data) = (flag.clone(), data.clone());
        let reader = thread::spawn(move || {
            atomically(|t| if t.read(&their_flag)? { t.read(&their_data) } else { Ok(-1) })
        });
        atomically(|t| t.write(&data, 1));
        atomically(|t| t.write(&flag, true));
        atomically(|t| t.write(&data, 2));
        reader.join().unwrap()
    });
    assert_eq!(got, [Ok(-1), Ok(1), Ok(2)]);
}

#[test]
fn a_panic_in_a_transaction_happens_after_what_it_has_read() {
    let outcomes = strait::outcomes(|| {
        let variable = TVar::new(0);
        let theirs = variable.clone();
        let other = thread::spawn(move || {
            atomically(|t| {
                assert_eq!(t.read(&theirs)?, 0, "too late");
                Ok(())
            });
        });
        atomically(|t| t.write(&variable, 1));
        other.join().is_ok()
    });
    assert_eq!((outcomes.executions, outcomes.redundant), (2, 0));
    let mut values: Vec<_> = outcomes.values().into_iter().copied().collect();
    values.sort_unstable();
    assert_eq!(values, [false, true]);
}

#[test]
fn invariants_may_read_variables() {
    let transfer = |at_once: bool| {
        move || {
            let (one, other) = (TVar::new(1), TVar::new(0));
            let (first, second) = (one.clone(), other.clone());
            strait::invariant("nothing is lost", move || {
                atomically(|t| Ok(t.read(&first)? + t.read(&second)?)) == 1
            });
            if at_once {
                atomically(|t| {
                    t.write(&one, 0)?;
                    t.write(&other, 1)
                });
            } else {
                atomically(|t| t.write(&one, 0));
                atomically(|t| t.write(&other, 1));
            }
        }
    };
    assert!(strait::Builder::new().try_check(transfer(true)).is_ok());
    let failure = strait::Builder::new().try_check(transfer(false)).expect_err("it is broken");
    assert!(failure.to_string().contains("nothing is lost"), "{failure}");
}
