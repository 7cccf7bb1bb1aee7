//! Programs about the order in which threads see several variables: store and load buffering, IRIW, WRC,
//! ISA2, 2+2W, R, S, and what SeqCst adds.

use super::{Row, row};

pub const ROWS: &[Row] = &[
    row(
        "SB, relaxed",
        "W x 1 rlx; R y rlx | W y 1 rlx; R x rlx",
        "00 01 10 11",
        "no hb between the threads",
    ),
    row(
        "SB, release and acquire",
        "W x 1 rel; R y acq | W y 1 rel; R x acq",
        "00 01 10 11",
        "00: who reads 0 does not synchronise",
    ),
    row(
        "SB, SeqCst",
        "W x 1 sc; R y sc | W y 1 sc; R x sc",
        "01 10 11",
        "00: W x sb R y rb W y sb R x rb W x is a cycle in psc",
    )
    .loom("00 01 10 11"),
    row(
        "SB, SeqCst fences",
        "W x 1 rlx; F sc; R y rlx | W y 1 rlx; F sc; R x rlx",
        "01 10 11",
        "00: each fence is before the other in psc by sb; rb; sb",
    ),
    row(
        "SB, one SeqCst fence",
        "W x 1 rlx; F sc; R y rlx | W y 1 rlx; R x rlx",
        "00 01 10 11",
        "psc needs a SeqCst event in both threads",
    ),
    row(
        "SB, acquire-release fences",
        "W x 1 rlx; F acqrel; R y rlx | W y 1 rlx; F acqrel; R x rlx",
        "00 01 10 11",
        "only SeqCst fences are in psc",
    ),
    row(
        "SB, SeqCst stores",
        "W x 1 sc; R y acq | W y 1 sc; R x acq",
        "00 01 10 11",
        "the loads are not in psc",
    ),
    row(
        "SB, swaps and loads",
        "S x 1 acqrel; R y acq | S y 1 acqrel; R x acq",
        "0000 0001 0100 0101",
        "0000: an update does not make later loads wait",
    ),
    row(
        "SB, updates only",
        "S x 1 acqrel; U y 0 acqrel | S y 1 acqrel; U x 0 acqrel",
        "0001 0100 0101",
        "0000: U y is before S y in mo, S y reads from it and acquires W x",
    ),
    row(
        "SB, three SeqCst",
        "W x 1 sc; R y sc | W y 1 rel; R x sc",
        "00 01 10 11",
        "rb; sb through a release store is no step of psc",
    ),
    row(
        "SB, own stores read first",
        "W x 1 rel; R x sc; R y sc | W y 1 rel; R y sc; R x sc",
        "1010 1011 1110 1111",
        "1010: rb; rf is no step of scb; C++20 orders SeqCst reads by it",
    )
    .cpp20("1011 1110 1111"),
    row(
        "SB, mutex between",
        "W x 1 rlx; L m; M m; R y rlx | W y 1 rlx; L m; M m; R x rlx",
        "01 10 11",
        "00: one section happens before the other",
    ),
    row(
        "LB, relaxed",
        "R x rlx; W y 1 rlx | R y rlx; W x 1 rlx",
        "00 01 10",
        "11: sb ∪ rf has a cycle; C++20 allows it",
    )
    .cpp20("00 01 10 11"),
    row(
        "LB, one dependency",
        "R x rlx; W y 1 rlx | R y rlx; W x r0 rlx",
        "00 01",
        "11: sb ∪ rf has a cycle; C++20 allows it",
    )
    .cpp20("00 01 11"),
    row(
        "LB, two dependencies",
        "R x rlx; W y r0 rlx | R y rlx; W x r0 rlx",
        "00",
        "any other value would come out of thin air",
    ),
    row(
        "LB, release and acquire",
        "R x acq; W y 1 rel | R y acq; W x 1 rel",
        "00 01 10",
        "11: sw makes hb reflexive",
    ),
    row(
        "LB, one release and acquire",
        "R x acq; W y 1 rlx | R y rlx; W x 1 rel",
        "00 01 10",
        "11: R y hb W x hb R x hb W y, and R y reads from it",
    ),
    row(
        "IRIW, relaxed",
        "W x 1 rlx | W y 1 rlx | R x rlx; R y rlx | R y rlx; R x rlx",
        "1010 1011 1110 1111",
        "1010: nothing orders the two stores for all",
    )
    .only(both_first),
    row(
        "IRIW, release and acquire",
        "W x 1 rel | W y 1 rel | R x acq; R y acq | R y acq; R x acq",
        "1010 1011 1110 1111",
        "1010: sw to each reader, none between the stores",
    )
    .only(both_first),
    row(
        "IRIW, SeqCst",
        "W x 1 sc | W y 1 sc | R x sc; R y sc | R y sc; R x sc",
        "1011 1110 1111",
        "1010: W x hb R x sb R y rb W y hb R y sb R x rb W x is a cycle in psc",
    )
    .only(both_first)
    .loom("1010 1011 1110 1111"),
    row(
        "IRIW, SeqCst fences",
        "W x 1 rlx | W y 1 rlx | R x rlx; F sc; R y rlx | R y rlx; F sc; R x rlx",
        "1011 1110 1111",
        "1010: sb; rb; rf; sb from each fence to the other",
    )
    .only(both_first),
    row(
        "IRIW, acquire and SeqCst loads",
        "W x 1 sc | W y 1 sc | R x acq; R y sc | R y acq; R x sc",
        "1010 1011 1110 1111",
        "1010: from W x to R y leads hb, but no sb stands before it",
    )
    .only(both_first),
    row(
        "WRC, relaxed",
        "W x 1 rlx | R x rlx; W y 1 rlx | R y rlx; R x rlx",
        "110 111",
        "110: no hb",
    )
    .only(|word| word.starts_with("11")),
    row(
        "WRC, release and acquire",
        "W x 1 rel | R x acq; W y 1 rel | R y acq; R x rlx",
        "111",
        "110: hb is transitive",
    )
    .only(|word| word.starts_with("11")),
    row(
        "WRC, relaxed first",
        "W x 1 rlx | R x rlx; W y 1 rel | R y acq; R x rlx",
        "111",
        "110: R x hb R x, and the later one reads an older store",
    )
    .only(|word| word.starts_with("11")),
    row(
        "RWC, SeqCst fences",
        "W x 1 rlx | R x rlx; F sc; R y rlx | W y 1 rlx; F sc; R x rlx",
        "101 110 111",
        "100: psc by rb, and by rb; rf",
    )
    .only(|word| word.starts_with('1')),
    row(
        "ISA2, relaxed",
        "W x 1 rlx; W y 1 rlx | R y rlx; W z 1 rlx | R z rlx; R x rlx",
        "110 111",
        "110: no hb",
    )
    .only(|word| word.starts_with("11")),
    row(
        "ISA2, release and acquire",
        "W x 1 rlx; W y 1 rel | R y acq; W z 1 rel | R z acq; R x rlx",
        "111",
        "110: hb is transitive",
    )
    .only(|word| word.starts_with("11")),
    row(
        "2+2W, relaxed",
        "W x 1 rlx; W y 2 rlx | W y 1 rlx; W x 2 rlx",
        "/11 /12 /21 /22",
        "/11: mo and sb may have a cycle",
    )
    .last(),
    row(
        "2+2W, release",
        "W x 1 rel; W y 2 rel | W y 1 rel; W x 2 rel",
        "/11 /12 /21 /22",
        "/11: nothing is read, so nothing synchronises",
    )
    .last(),
    row(
        "2+2W, SeqCst",
        "W x 1 sc; W y 2 sc | W y 1 sc; W x 2 sc",
        "/12 /21 /22",
        "/11: sb; mo; sb; mo is a cycle in psc",
    )
    .last()
    .loom("/11 /12 /21 /22"),
    row(
        "S, relaxed",
        "W x 2 rlx; W y 1 rlx | R y rlx; W x 1 rlx",
        "0/11 0/21 1/11 1/21",
        "1/21: no hb between the stores to x",
    )
    .last(),
    row(
        "S, release and acquire",
        "W x 2 rlx; W y 1 rel | R y acq; W x 1 rlx",
        "0/11 0/21 1/11",
        "1/21: mo would go against hb",
    )
    .last(),
    row(
        "R, release and acquire",
        "W x 1 rel; W y 1 rel | W y 2 rel; R x acq",
        "0/11 0/12 1/11 1/12",
        "0/12: mo does not synchronise",
    )
    .last(),
    row(
        "R, SeqCst",
        "W x 1 sc; W y 1 sc | W y 2 sc; R x sc",
        "0/11 1/11 1/12",
        "0/12: sb; mo; sb; rb is a cycle in psc",
    )
    .last()
    .loom("0/11 0/12 1/11 1/12"),
    row(
        "Z6.U",
        "W x 1 sc; W y 1 rel | U y 1 sc; R y rlx | W y 3 sc; R x sc",
        "120/12 120/13 130/13",
        "130/13: from W x to U y leads hb, but no sb stands behind it",
    )
    .last()
    .only(|word| word.starts_with('1') && word.contains("0/")),
    row(
        "two stores to one variable, SeqCst",
        "R x acq; R y sc | W x 1 sc; W x 2 sc | W y 1 sc; R x sc",
        "200 201 202",
        "200: the sb before hb is on one location; C++20 counts it all the same",
    )
    .only(|word| word.starts_with("20"))
    .cpp20("201 202"),
    row(
        "SeqCst fences around a relaxed chain",
        "R y rlx; F sc; R z rlx | W z 1 rlx; F sc; W x 1 rlx | R x rlx; W y r0 rlx",
        "101 111",
        "101: relaxed accesses of a third thread do not carry the order of the fences",
    )
    .only(|word| word.starts_with('1'))
    .loom("111"),
];

/// Both readers see the first store that they look for.
fn both_first(word: &str) -> bool {
    word.starts_with('1') && word.as_bytes()[2] == b'1'
}
