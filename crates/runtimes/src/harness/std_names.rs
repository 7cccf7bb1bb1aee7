//! What most channel crates have in common, written once: methods of [`Target`](super::target::Target)
//! for ends that carry the names which std has made usual. A crate that differs writes the method
//! out instead.
//!
//! The names of functions and errors (`bounded`, `TrySendError`, …) are those that the file of the
//! target imports.

/// One family of methods, inside `impl Target for …`:
///
/// | family | asks for |
/// |---|---|
/// | `open` | `bounded` and `unbounded` |
/// | `clone` | both ends can be cloned |
/// | `single` | neither end can be cloned |
/// | `close` | `Sender::close` leaves what is in the channel |
/// | `try GONE` | `try_send` and `try_recv`; the errors of a channel whose other end has gone are called `GONE` |
/// | `wait SEND RECEIVE` | the two methods that block a thread |
/// | `wait_within GONE` | `send_timeout` and `recv_timeout` |
/// | `task SEND RECEIVE` | the two methods that give a future |
/// | `again PUSH POP` | nothing waits: the functions `PUSH` of a sender and an optional message, which stays where it is if there is no room, and `POP` of a receiver are tried again and again |
macro_rules! std_names {
    (open) => {
        fn open<W: Word>(&self, capacity: Capacity) -> (Sender<W>, Receiver<W>) {
            match capacity {
                Capacity::Rendezvous => bounded(0),
                Capacity::Bounded(capacity) => bounded(capacity as usize),
                Capacity::Unbounded => unbounded(),
            }
        }
    };
    (clone) => {
        fn clone_sender<W: Word>(sender: &Sender<W>) -> Option<Sender<W>> {
            Some(sender.clone())
        }

        fn clone_receiver<W: Word>(receiver: &Receiver<W>) -> Option<Receiver<W>> {
            Some(receiver.clone())
        }
    };
    (single) => {
        fn clone_sender<W: Word>(_: &Self::Sender<W>) -> Option<Self::Sender<W>> {
            None
        }

        fn clone_receiver<W: Word>(_: &Self::Receiver<W>) -> Option<Self::Receiver<W>> {
            None
        }
    };
    (again $push:ident $pop:ident) => {
        fn try_put<W: Word>(sender: &Self::Sender<W>, word: W) -> Option<Answer<W>> {
            $push(sender, &mut Some(word))
        }

        fn try_get<W: Word>(receiver: &Self::Receiver<W>) -> Option<Answer<W>> {
            $pop(receiver)
        }

        fn put<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
            let mut word = Some(word);
            try_until(|| $push(sender, &mut word))
        }

        fn get<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
            try_until(|| $pop(receiver))
        }

        async fn put_task<W: Word>(sender: &Self::Sender<W>, word: W) -> Answer<W> {
            let mut word = Some(word);
            try_until_task(|| $push(sender, &mut word)).await
        }

        async fn get_task<W: Word>(receiver: &Self::Receiver<W>) -> Answer<W> {
            try_until_task(|| $pop(receiver)).await
        }
    };
    (close) => {
        fn close<W: Word>(sender: &Sender<W>) -> bool {
            sender.close();
            true
        }
    };
    (try $gone:ident) => {
        fn try_put<W: Word>(sender: &Sender<W>, word: W) -> Option<Answer<W>> {
            match sender.try_send(word) {
                Ok(()) => Some(Answer::Sent),
                Err(TrySendError::Full(_)) => None,
                Err(TrySendError::$gone(_)) => Some(Answer::Gone),
            }
        }

        fn try_get<W: Word>(receiver: &Receiver<W>) -> Option<Answer<W>> {
            match receiver.try_recv() {
                Ok(word) => Some(Answer::Got(word)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::$gone) => Some(Answer::Closed),
            }
        }
    };
    (wait $send:ident $receive:ident) => {
        fn put<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
            sender.$send(word).map_or(Answer::Gone, |()| Answer::Sent)
        }

        fn get<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
            receiver.$receive().map_or(Answer::Closed, Answer::Got)
        }
    };
    (wait_within $gone:ident) => {
        fn put_within<W: Word>(
            sender: &Sender<W>,
            word: W,
            patience: Duration,
        ) -> Option<Answer<W>> {
            match sender.send_timeout(word, patience) {
                Ok(()) => Some(Answer::Sent),
                Err(SendTimeoutError::Timeout(_)) => None,
                Err(SendTimeoutError::$gone(_)) => Some(Answer::Gone),
            }
        }

        fn get_within<W: Word>(receiver: &Receiver<W>, patience: Duration) -> Option<Answer<W>> {
            match receiver.recv_timeout(patience) {
                Ok(word) => Some(Answer::Got(word)),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::$gone) => Some(Answer::Closed),
            }
        }
    };
    (task $send:ident $receive:ident) => {
        async fn put_task<W: Word>(sender: &Sender<W>, word: W) -> Answer<W> {
            sender.$send(word).await.map_or(Answer::Gone, |()| Answer::Sent)
        }

        async fn get_task<W: Word>(receiver: &Receiver<W>) -> Answer<W> {
            receiver.$receive().await.map_or(Answer::Closed, Answer::Got)
        }
    };
}
pub(crate) use std_names;
