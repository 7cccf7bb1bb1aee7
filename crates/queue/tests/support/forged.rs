//! Messages that Strait has not written: forged ones with the right checksum, and changed ones.

use strait_queue::PROTOCOL;

/// A message as Strait writes it: the line that says what it is, with the right checksum, and a body.
pub fn sealed(kind: &str, body: &str) -> Vec<u8> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in body.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("strait/{PROTOCOL} {kind} {hash:016x}\n{body}").into_bytes()
}

/// Some numbers below a limit.
pub fn dice(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |most| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most.max(1)
    }
}

/// A message with one to three changes: bits, bytes, pieces removed, doubled or put in, or another number,
/// each with the checksum that it had; or impossible bounds of an item, with the right checksum.
pub fn mutate(message: &[u8], dice: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut changed = message.to_vec();
    let text = String::from_utf8_lossy(message).into_owned();
    if let (1, Some((line, body))) = (dice(4), text.split_once('\n')) {
        let values =
            ["9223372036854775808", "18446744073709551615", "-1", "1e300", "null", "\"x\""];
        let value = values[dice(values.len() as u64) as usize];
        for field in ["\"end\":", "\"target\":", "\"start\":"] {
            let Some((before, after)) = body.split_once(field) else { continue };
            if dice(2) == 0 {
                let rest = after.trim_start_matches(|char: char| char.is_ascii_digit());
                let kind = line.split(' ').nth(1).unwrap_or_default();
                return sealed(kind, &format!("{before}{field}{value}{rest}"));
            }
        }
    }
    for _ in 0..=dice(3) {
        let place = dice(changed.len() as u64) as usize;
        match dice(6) {
            _ if changed.is_empty() => changed.push(dice(256) as u8),
            0 => changed[place] ^= 1 << dice(8),
            1 => changed[place] = dice(256) as u8,
            2 => changed.truncate(place),
            3 => drop(changed.remove(place)),
            4 => changed.insert(place, dice(256) as u8),
            _ => {
                let piece = changed[place..].to_vec();
                changed.extend(piece);
            }
        }
    }
    changed
}
