//! flume: threads, tasks and both on one channel; rendezvous, bounded and unbounded; `Selector`.

use std::time::Duration;

use flume::{
    Receiver, RecvTimeoutError, Selector, SendTimeoutError, Sender, TryRecvError, TrySendError,
    bounded, unbounded,
};

use crate::harness::payload::Word;
use crate::harness::plan::Capacity;
use crate::harness::std_names::std_names;
use crate::harness::target::{Answer, Contract, Flavour, Offer, Target};

/// The crate.
#[derive(Clone, Default)]
pub struct Flume;

impl Target for Flume {
    type Sender<W: Word> = Sender<W>;
    type Receiver<W: Word> = Receiver<W>;

    /// "A blazingly fast multi-producer, multi-consumer channel"; "Unbounded, bounded and rendezvous
    /// queues"; "`async` support, including mix 'n match with sync code". · `bounded`: "A bounded
    /// queue with a maximum capacity of zero will block senders until a receiver is available to
    /// take the value." · `Selector`: "allowing a thread to wait upon the result of more than one
    /// operation at once", `wait`: "Wait until one of the events associated with this `Selector` has
    /// completed." · `send_timeout` gives the message back, `recv_timeout` leaves it.
    ///
    /// A value sent to a task that waits on a rendezvous channel is left for the first receiver that comes,
    /// which may be the sender itself: that is no rendezvous as the language has it, so tasks have
    /// none. Nothing is said about sends that are not chosen or whose future is dropped: they may still
    /// have happened, so they are asked for only loosely.
    fn contract(&self, flavour: Flavour) -> Option<Contract> {
        Some(Contract {
            rendezvous: flavour == Flavour::Threads,
            select_puts: false,
            put_and_get_in_select: false,
            cancel_puts: flavour == Flavour::Threads,
            ..Contract::ALL
        })
    }

    /// `Selector::send`: "Add a send operation to the selector that sends the provided value." ·
    /// `send_async`: "If the channel is bounded and is full, the returned future will yield to the async
    /// runtime", which includes the capacity 0. · Futures can be dropped at any time in Rust. What becomes
    /// of the message is not said, but the others have to go on.
    fn loose_contract(&self, flavour: Flavour) -> Option<Contract> {
        let promised = self.contract(flavour)?;
        Some(Contract { rendezvous: true, select_puts: true, cancel_puts: true, ..promised })
    }

    std_names! { open }
    std_names! { clone }
    std_names! { try Disconnected }
    std_names! { wait send recv }
    std_names! { wait_within Disconnected }
    std_names! { task send_async recv_async }

    fn select<W: Word>(
        offers: Vec<Offer<'_, Self, W>>,
        patience: Option<Duration>,
    ) -> Option<(usize, Answer<W>)> {
        let mut selector = Selector::new();
        for (position, offer) in offers.into_iter().enumerate() {
            selector = match offer {
                Offer::Put(sender, word) => selector.send(sender, word, move |sent| {
                    (position, sent.map_or(Answer::Gone, |()| Answer::Sent))
                }),
                Offer::Get(receiver) => selector.recv(receiver, move |received| {
                    (position, received.map_or(Answer::Closed, Answer::Got))
                }),
            };
        }
        match patience {
            None => Some(selector.wait()),
            Some(patience) => selector.wait_timeout(patience).ok(),
        }
    }
}
