//! Brings up the loopback interface of a new network namespace: many tests listen on 127.0.0.1. One
//! message to the kernel (RTM_NEWLINK, see netlink(7) and rtnetlink(7)) and its answer.

use std::io;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

/// RTM_NEWLINK: change an interface.
const NEW_LINK: u16 = 16;
/// NLM_F_REQUEST and NLM_F_ACK.
const REQUEST_AND_ANSWER: u16 = 1 | 4;
/// The loopback interface is the first one of every namespace.
const LOOPBACK: i32 = 1;
/// IFF_UP.
const UP: u32 = 1;
/// The length of a header, and of what follows it in a request.
const HEADER: usize = 16;

pub(crate) fn bring_up() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // The first protocol of netlink is the one for interfaces and routes.
        None,
    )?;
    rustix::net::send(&socket, &request(), SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    match error_of(&answer[..length]) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * HEADER);
    bytes.extend((2 * HEADER as u32).to_ne_bytes());
    bytes.extend(NEW_LINK.to_ne_bytes());
    bytes.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    // Number of the message, and the port of whoever sends it.
    bytes.extend(1_u32.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    // Any family, any type.
    bytes.extend([0; 4]);
    bytes.extend(LOOPBACK.to_ne_bytes());
    // The flags, and which of them to change.
    bytes.extend(UP.to_ne_bytes());
    bytes.extend(UP.to_ne_bytes());
    bytes
}

/// The error in an answer; 0 is success.
fn error_of(answer: &[u8]) -> Option<i32> {
    let bytes = answer.get(HEADER..HEADER + 4)?;
    Some(i32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_length_that_it_names() {
        let request = request();
        let named = u32::from_ne_bytes(request[..4].try_into().expect("four bytes"));
        assert_eq!(request.len(), named as usize);
    }

    #[test]
    fn short_answers_are_no_success() {
        assert_eq!(error_of(&[0; HEADER]), None);
        assert_eq!(error_of(&[0; HEADER + 4]), Some(0));
    }
}
