//! Programs about one variable: its stores have one order, which reads follow, and updates leave no gap
//! in it.

use super::{Row, row};

pub const ROWS: &[Row] = &[
    row("CoWW", "W x 1 rlx; W x 2 rlx | R y rlx", "0/20", "mo follows sb").last(),
    row(
        "CoRW, own store",
        "R x rlx; W x 1 rlx | R y rlx",
        "00",
        "a read does not see a later store of its thread",
    ),
    row(
        "CoRW, another's store",
        "R x rlx; W x 1 rlx | W x 2 rlx",
        "0/1 0/2 2/1",
        "2/2: what was read is before the later store of the thread in mo",
    )
    .last(),
    row(
        "CoWR",
        "W x 1 rlx; R x rlx | W x 2 rlx",
        "1/1 1/2 2/2",
        "2/1: a read does not go back behind the thread's own store",
    )
    .last(),
    row(
        "CoRR",
        "W x 1 rlx; W x 2 rlx | R x rlx; R x rlx",
        "00 01 02 11 12 22",
        "21: two reads follow mo",
    ),
    row(
        "CoRR, two readers",
        "W x 1 rlx | W x 2 rlx | R x rlx; R x rlx | R x rlx; R x rlx",
        "1212 2121",
        "1221: mo is one order for all",
    )
    .only(|word| !word.contains('0') && word[..1] != word[1..2] && word[2..3] != word[3..]),
    row("two updates", "U x 1 rlx | U x 1 rlx", "01/2 10/2", "00: rmw ∩ (rb; mo) is empty").last(),
    row(
        "load and store",
        "R x rlx; W x r0+1 rlx | R x rlx; W x r0+1 rlx",
        "00/1 01/2 10/2",
        "00: a load and a store are no update",
    )
    .last()
    .loom("00/1 01/2"),
    row(
        "two exchanges",
        "C x 0 1 rlx rlx | C x 0 2 rlx rlx",
        "01/1 20/2",
        "00: only one can stand behind the initial value in mo",
    )
    .last(),
    row(
        "weak exchange",
        "V x 0 1 rlx rlx | R y rlx",
        "00/00 00/10",
        "00/00: compare_exchange_weak may fail without a reason",
    )
    .last()
    .loom("00/10"),
    row(
        "two weak exchanges",
        "V x 0 1 rlx rlx | V x 0 2 rlx rlx",
        "00/0 00/1 00/2 01/1 20/2",
        "00: one of them, or both, may have failed without a reason",
    )
    .last()
    .loom("01/1 20/2"),
];
