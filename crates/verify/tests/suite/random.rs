//! Random programs with everything the language has: a few processes with loops, choices, selects,
//! locks and wait groups over shared objects. Most are broken in some way, which is the point.

/// A small random stream, fixed by its seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const CHANNELS: [&str; 3] = ["a", "b", "c"];

/// The text of a random program.
pub fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from("main {\n");
    for channel in CHANNELS {
        let capacity = dice.pick(&["", "", "[1]", "[2]"]);
        text.push_str(&format!("chan {channel}: int{capacity}\n"));
    }
    text.push_str("mutex m\nrwmutex r\nwaitgroup w\n");
    let processes = 1 + dice.below(3);
    for _ in 0..processes {
        text.push_str("spawn {\n");
        body(&mut dice, &mut text);
        text.push_str("}\n");
    }
    body(&mut dice, &mut text);
    text.push_str("}\n");
    text
}

/// What one process does: something, or something again and again.
fn body(dice: &mut Dice, text: &mut String) {
    if dice.below(2) == 0 {
        block(dice, 0, text);
        if dice.below(8) == 0 {
            text.push_str("select {}\n");
        }
        return;
    }
    text.push_str("while true {\n");
    block(dice, 1, text);
    text.push_str("}\n");
}

fn block(dice: &mut Dice, depth: u64, text: &mut String) {
    for _ in 0..1 + dice.below(3 - depth.min(2)) {
        statement(dice, depth, text);
    }
}

fn statement(dice: &mut Dice, depth: u64, text: &mut String) {
    let channel = dice.pick(&CHANNELS);
    let other = dice.pick(&CHANNELS);
    let nested = if depth < 2 { 26 } else { 18 };
    match dice.below(nested) {
        0..=3 => text.push_str(&format!("put {channel} 1\n")),
        4..=7 => text.push_str(&format!("get {channel}\n")),
        8 => text.push_str(&format!("close {channel}\n")),
        9 => text.push_str("lock m\n"),
        10 => text.push_str("unlock m\n"),
        11 => text.push_str("lock m\nunlock m\n"),
        12 => text.push_str(dice.pick(&["rlock r\n", "lock r\n"])),
        13 => text.push_str(dice.pick(&["runlock r\n", "unlock r\n"])),
        14 => text.push_str("add w 1\n"),
        15 => text.push_str("done w\n"),
        16 => text.push_str("wait w\n"),
        17 => text.push_str(&format!(
            "select {{ put {channel} 1 {{}} get {other} {{}} {} }}\n",
            dice.pick(&["", "", "default {}", "timeout {}"])
        )),
        18..=20 => {
            text.push_str(dice.pick(&["while true {\n", "while true {\n", "if true {\n"]));
            block(dice, depth + 1, text);
            text.push_str("}\n");
        }
        21..=23 => {
            text.push_str("choose {\n");
            block(dice, depth + 1, text);
            text.push_str("} or {\n");
            if dice.below(2) == 0 {
                block(dice, depth + 1, text);
            }
            text.push_str("}\n");
        }
        _ => {
            text.push_str(&format!("select {{ get {channel} {{\n"));
            block(dice, depth + 1, text);
            text.push_str(&format!("}} put {other} 1 {{}} }}\n"));
        }
    }
}
