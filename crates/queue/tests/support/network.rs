//! A poor network between clients and a server, anywhere and without rights: what is sent arrives late,
//! now and then much later, as if it had been lost and sent again, and connections break.
//! In: the server's address and a seed. Out: an address that leads there.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Of so many pieces of a stream one is lost on its way, and one takes the connection with it.
const LOST: u64 = 50;
const CUT: u64 = 500;
/// Until a lost piece is there after all.
const AGAIN: Duration = Duration::from_millis(200);

/// The way of a number to the next.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Opens such a way to a server, `HOST:PORT`; it lasts as long as the process.
pub fn poor(server: &str, seed: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let (server, mut seed) = (server.to_owned(), seed);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A client that finds nobody comes again.
            let Ok(upstream) = TcpStream::connect(&server) else { continue };
            for (from, to) in [(&client, &upstream), (&upstream, &client)] {
                let ends = (from.try_clone(), to.try_clone());
                let (Ok(from), Ok(to)) = ends else { continue };
                let own = next(&mut seed);
                thread::spawn(move || carry(from, to, own));
            }
        }
    });
    address
}

/// Carries what comes, until either end or the way itself breaks.
fn carry(mut from: TcpStream, mut to: TcpStream, mut dice: u64) {
    let mut piece = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        thread::sleep(Duration::from_millis(5 + next(&mut dice) % 20));
        if next(&mut dice).is_multiple_of(LOST) {
            thread::sleep(AGAIN);
        }
        if next(&mut dice).is_multiple_of(CUT) || to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    for end in [&from, &to] {
        // It may be closed already.
        let _ = end.shutdown(Shutdown::Both);
    }
}
