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
