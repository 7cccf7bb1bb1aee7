//! crossbeam-channel: threads; rendezvous, bounded and unbounded; select over sends and receives.

use std::time::Duration;

use crossbeam_channel::{
    Receiver, RecvTimeoutError, Select, SendTimeoutError, Sender, TryRecvError, TrySendError,
    bounded, unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct CrossbeamChannel;

impl Target for CrossbeamChannel {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "Multi-producer multi-consumer channels for message passing." · `bounded`: "A special case
    /// is zero-capacity channel, which cannot hold any messages. Instead, send and receive
    /// operations must appear at the same time in order to pair up and pass the message over." ·
    /// Disconnection: "When all senders or all receivers associated with a channel get dropped, the
    /// channel becomes disconnected. No more messages can be sent, but any remaining messages can
    /// still be received." · `Select`: "allows you to define a set of channel operations, wait until
    /// any one of them becomes ready, and finally execute it"; The same operation can be added
    /// multiple times is implied by its indices. · `send_timeout`, `recv_timeout`: give the message
    /// back, or leave it.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        (flavour == Flavour::Threads).then_some(Contract::ALL)
    }

    std_names! { open }
    std_names! { clone }
    std_names! { try Disconnected }
    std_names! { wait send recv }
    std_names! { wait_within Disconnected }

    fn select<W: Word>(
        mut offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let mut select = Select::new();
        for offer in &offers {
            match offer {
                Offer::Put(sender, _) => select.send(sender),
                Offer::Get(receiver) => select.recv(receiver),
            };
        }
        let ready = match patience {
            None => select.select(),
            Some(patience) => select.select_timeout(patience).ok()?,
        };
        let position = ready.index();
        let answer = match offers.swap_remove(position) {
            Offer::Put(sender, word) => {
                ready.send(sender, word).map_or(Answer::Gone, |()| Answer::Sent)
            }
            Offer::Get(receiver) => ready.recv(receiver).map_or(Answer::Closed, Answer::Got),
        };
        Some((position, answer))
    }
}
