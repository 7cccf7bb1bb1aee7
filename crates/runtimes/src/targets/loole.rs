//! loole: threads, tasks and both on one channel; rendezvous, bounded and unbounded.

use std::time::Duration;

use loole::{
    Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded,
    unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Loole;

impl Target for Loole {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A safe async/sync multi-producer multi-consumer channel": "Unbounded, bounded and rendezvous
    /// channels", "Send and receive operations can be blocking (sync) or non-blocking (async)". ·
    /// `bounded`: "A bounded queue with a limited maximum capacity of zero will block senders until
    /// a receiver is available to take the value": the value is left for whoever comes first, who
    /// may be another receiver than the waiting one or the sender itself, so that is no rendezvous
    /// as the language has it and none is asked for. · `close`: "The remaining messages can still be
    /// received." · `send_timeout` gives the message back, `recv_timeout` leaves it. ·
    /// `SendFuture`: "Dropping a pending `SendFuture` cancels the send", but a message is delivered
    /// when "the receiver won the hand-off race just as the future was dropped": not atomic. ·
    /// Threads have no select.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: false,
            select_gets: flavour == Flavour::Tasks,
            select_puts: false,
            same_channel_twice: flavour == Flavour::Tasks,
            put_and_get_in_select: false,
            cancel_puts: flavour == Flavour::Threads,
            ..Contract::ALL
        })
    }

    /// "Dropping a pending `SendFuture` cancels the send", but the message may be delivered all the same. ·
    /// "Rendezvous channels" are offered; who gets the message is open, see above.
    fn loose_contract(&self, flavour: Flavour) -> Option<Contract> {
        let promised = self.contract(flavour)?;
        let can_poll = flavour == Flavour::Tasks;
        Some(Contract { rendezvous: true, select_puts: can_poll, cancel_puts: true, ..promised })
    }

    std_names! { open }
    std_names! { clone }
    std_names! { close }
    std_names! { try Disconnected }
    std_names! { wait send recv }
    std_names! { wait_within Disconnected }
    std_names! { task send_async recv_async }
}
