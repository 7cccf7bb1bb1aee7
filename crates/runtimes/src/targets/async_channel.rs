//! async-channel: tasks, threads and both on one channel; bounded and unbounded.

use async_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, unbounded};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct AsyncChannel;

impl Target for AsyncChannel {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "An async multi-producer multi-consumer channel, where each message can be received by only
    /// one of all existing consumers." "1. Bounded channel with limited capacity. 2. Unbounded
    /// channel with unlimited capacity." (`bounded`: "Capacity must be a positive number".) · "When
    /// all `Sender`s or all `Receiver`s are dropped, the channel becomes closed. When a channel is
    /// closed, no more messages can be sent, but remaining messages can still be received." · "The
    /// channel can also be closed manually by calling `Sender::close()` or `Receiver::close()`." ·
    /// `send_blocking`, `recv_blocking`: for non-asynchronous contexts; threads have neither
    /// select nor timeouts. · A future owns its message until it is in the queue, and an operation
    /// that was notified and dropped notifies another one.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        let can_poll = flavour == Flavour::Tasks;
        Some(Contract {
            rendezvous: false,
            select_gets: can_poll,
            select_puts: can_poll,
            same_channel_twice: can_poll,
            put_and_get_in_select: false,
            cancel_gets: can_poll,
            cancel_puts: can_poll,
            ..Contract::ALL
        })
    }

    std_names! { open }
    std_names! { clone }
    std_names! { close }
    std_names! { try Closed }
    std_names! { wait send_blocking recv_blocking }
    std_names! { task send recv }
}
