//! Pieces of well-known algorithms around a plain variable: if both threads get to it, that is a race.
//! Who waits in the algorithm gives up here; `waiting.rs` has the loops.

use super::{RACE, Row, row};

pub const ROWS: &[Row] = &[
    row(
        "Dekker, SeqCst",
        "W x 1 sc; R y sc; [r0=0] N d 1 | W y 1 sc; R x sc; [r0=0] N d 2",
        "01 10 11",
        "as store buffering: not both read 0",
    )
    .loom(RACE),
    row(
        "Dekker, SeqCst fences",
        "W x 1 rlx; F sc; R y rlx; [r0=0] N d 1 | W y 1 rlx; F sc; R x rlx; [r0=0] N d 2",
        "01 10 11",
        "as store buffering with fences",
    ),
    row(
        "Dekker, release and acquire",
        "W x 1 rel; R y acq; [r0=0] N d 1 | W y 1 rel; R x acq; [r0=0] N d 2",
        RACE,
        "both may read 0",
    ),
    row(
        "Peterson, SeqCst",
        "W f 1 sc; W t 2 sc; R g sc; R t sc; [r0=0] N d 1; [r1=1] N d 1 | W g 1 sc; W t 1 sc; R f sc; R t sc; [r0=0] N d 2; [r1=2] N d 2",
        "0111 0211 1111 1201 1202 1211 1212",
        "the later store to t in mo makes its thread give way, and its reads are later still",
    )
    .loom(RACE),
    row(
        "Peterson, two SeqCst fences",
        "W f 1 rlx; F sc; W t 2 rlx; F sc; R g rlx; [r0=1] R t rlx; [r0=0] N d 1; [r1=1] N d 1 | W g 1 rlx; F sc; W t 1 rlx; F sc; R f rlx; [r0=1] R t rlx; [r0=0] N d 2; [r1=2] N d 2",
        "0-11 1111 120- 1211 1212",
        "mo of t and rb of the flag would order the fences both ways",
    ),
    row(
        "Peterson, one SeqCst fence",
        "W f 1 rlx; W t 2 rlx; F sc; R g rlx; R t rlx; [r0=0] N d 1; [r1=1] N d 1 | W g 1 rlx; W t 1 rlx; F sc; R f rlx; R t rlx; [r0=0] N d 2; [r1=2] N d 2",
        RACE,
        "no fence orders the flag before the turn",
    ),
    row(
        "Peterson, release and acquire",
        "W f 1 rel; W t 2 rel; R g acq; R t acq; [r0=0] N d 1; [r1=1] N d 1 | W g 1 rel; W t 1 rel; R f acq; R t acq; [r0=0] N d 2; [r1=2] N d 2",
        RACE,
        "both may miss the flag of the other",
    ),
    row(
        "Peterson, swap of the turn",
        "W f 1 rlx; S t 2 acqrel; R g acq; R t rlx; [r1=0] N d 1; [r2=1] N d 1 | W g 1 rlx; S t 1 acqrel; R f acq; R t rlx; [r1=0] N d 2; [r2=2] N d 2",
        "001211 002211 011211 012211 112001 112002 112011 112012",
        "the later swap reads from the earlier one and sees its flag",
    ),
    row(
        "Arc, Release and an Acquire fence",
        "O d; U c 1 rel; [r1=1] F acq; [r1=1] N d 1 | O d; U c 1 rel; [r1=1] F acq; [r1=1] N d 1",
        "0001 0100",
        "the last to count reads from the other, and its fence acquires",
    ),
    row(
        "Arc, AcqRel",
        "O d; U c 1 acqrel; [r1=1] N d 1 | O d; U c 1 acqrel; [r1=1] N d 1",
        "0001 0100",
        "the last to count acquires",
    ),
    row(
        "Arc, Relaxed",
        "O d; U c 1 rlx; [r1=1] F acq; [r1=1] N d 1 | O d; U c 1 rlx; [r1=1] F acq; [r1=1] N d 1",
        RACE,
        "nothing releases",
    ),
    row(
        "Arc, no fence",
        "O d; U c 1 rel; [r1=1] N d 1 | O d; U c 1 rel; [r1=1] N d 1",
        RACE,
        "nothing acquires",
    ),
    row(
        "lock, Acquire and Release",
        "S l 1 acq; [r0=0] N d 1; [r0=0] W l 0 rel | S l 1 acq; [r0=0] N d 2; [r0=0] W l 0 rel",
        "00 01 10",
        "the second owner reads from the unlock of the first",
    ),
    row(
        "lock, Relaxed",
        "S l 1 rlx; [r0=0] N d 1; [r0=0] W l 0 rlx | S l 1 rlx; [r0=0] N d 2; [r0=0] W l 0 rlx",
        RACE,
        "no sw from unlock to lock",
    ),
    row(
        "lock, Relaxed unlock",
        "S l 1 acq; [r0=0] N d 1; [r0=0] W l 0 rlx | S l 1 acq; [r0=0] N d 2; [r0=0] W l 0 rlx",
        RACE,
        "the unlock does not release",
    ),
    row(
        "double-checked locking, Acquire",
        "R f acq; [r0=0] L m; [r0=0] R f rlx; [r1=0] N d 1; [r1=0] W f 1 rel; [r0=0] M m; O d | R f acq; [r0=0] L m; [r0=0] R f rlx; [r1=0] N d 1; [r1=0] W f 1 rel; [r0=0] M m; O d",
        "001011 0011-1 011001 1-1001",
        "the flag or the mutex synchronises",
    )
    .loom("001011 0011-1 011001"),
    row(
        "double-checked locking, Relaxed",
        "R f rlx; [r0=0] L m; [r0=0] R f rlx; [r1=0] N d 1; [r1=0] W f 1 rel; [r0=0] M m; O d | R f rlx; [r0=0] L m; [r0=0] R f rlx; [r1=0] N d 1; [r1=0] W f 1 rel; [r0=0] M m; O d",
        RACE,
        "who sees the flag without the mutex does not acquire",
    ),
    row(
        "Treiber push, Release",
        "N n 1; C h 0 1 rel rlx | R h acq; [r0=1] O n",
        "00- 011",
        "sw from the exchange to the load of the head",
    ),
    row(
        "Treiber push, Relaxed",
        "N n 1; C h 0 1 rlx rlx | R h acq; [r0=1] O n",
        RACE,
        "the exchange does not release",
    ),
    row(
        "Treiber push and two pops",
        "N n 1; C h 0 1 rel rlx | C h 1 0 acq rlx; [r0=1] O n | C h 1 0 acq rlx; [r0=1] O n",
        "00-0- 00-11 0110-",
        "only one exchange takes the node",
    ),
    row(
        "RCU, Acquire",
        "O a; N b 1; W p 1 rel | R p acq; [r0=0] O a; [r0=1] O b",
        "000- 01-1",
        "the old version is only read, the new one published",
    ),
    row(
        "RCU, Relaxed",
        "O a; N b 1; W p 1 rel | R p rlx; [r0=0] O a; [r0=1] O b",
        RACE,
        "the load of the pointer does not acquire; RC11 knows no dependencies",
    ),
    row(
        "seqlock",
        "W s 1 rlx; F rel; W a 1 rlx; W b 1 rlx; W s 2 rel | R s acq; R a rlx; R b rlx; F acq; R s rlx",
        "0000 2112",
        "who has seen a new datum acquires W s 1 by the fence",
    )
    .only(accepted),
    row(
        "seqlock, Acquire load for the fence",
        "W s 1 rlx; F rel; W a 1 rlx; W b 1 rlx; W s 2 rel | R s acq; R a rlx; R b rlx; R s acq",
        "0000 0010 0100 0110 2112",
        "the loads of the data do not come before an acquire load",
    )
    .only(accepted),
    row(
        "seqlock, writer without fence",
        "W s 1 rlx; W a 1 rlx; W b 1 rlx; W s 2 rel | R s acq; R a rlx; R b rlx; F acq; R s rlx",
        "0000 0010 0100 0110 2112",
        "nothing releases W s 1 to who sees the data",
    )
    .only(accepted),
];

/// The reader has seen the same even number twice.
fn accepted(word: &str) -> bool {
    word.as_bytes()[0] == word.as_bytes()[3] && !word.starts_with('1')
}
