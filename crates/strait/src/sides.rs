//! What the channels of `std` and those in the manner of `crossbeam-channel` have in common: a side is
//! a real one or the model's, and does the same in both families. Only the names of the errors come
//! from different places, so this is written once for both as macros.

use std::sync::Arc;

use crate::rt::channel::Core;

/// A side of a channel: that of the real one, or the model.
pub(crate) enum Side<R, T> {
    Real(R),
    Model(Arc<Core<T>>),
}

/// Sending, cloning and dropping.
macro_rules! sender_side {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Sends, waiting for room or a partner. Gives the message back if no receiver is left.
            #[inline(always)]
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                match &self.0 {
                    Side::Real(sender) => sender.send(message),
                    Side::Model(core) => core.send(message, Location::caller()).map_err(SendError),
                }
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                $name(match &self.0 {
                    Side::Real(sender) => Side::Real(sender.clone()),
                    Side::Model(core) => {
                        core.clone_sender();
                        Side::Model(core.clone())
                    }
                })
            }
        }

        $crate::sides::dropped_side!($name, drop_sender);
    };
}

/// Sending without waiting.
macro_rules! trying_sender_side {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Sends if that is possible at once.
            #[inline(always)]
            #[track_caller]
            pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
                match &self.0 {
                    Side::Real(sender) => sender.try_send(message),
                    Side::Model(core) => {
                        let sent = core.try_send(message, Location::caller());
                        sent.map_err(|(message, why)| match why {
                            Nothing::Empty => TrySendError::Full(message),
                            Nothing::Disconnected => TrySendError::Disconnected(message),
                        })
                    }
                }
            }
        }
    };
}

/// Receiving and dropping, and the messages one after the other.
macro_rules! receiver_side {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Receives, waiting for a message. Fails if none can come any more.
            #[inline(always)]
            #[track_caller]
            pub fn recv(&self) -> Result<T, RecvError> {
                match &self.0 {
                    Side::Real(receiver) => receiver.recv(),
                    Side::Model(core) => core.receive(Location::caller()).ok_or(RecvError),
                }
            }

            /// Receives if a message is there.
            #[inline(always)]
            #[track_caller]
            pub fn try_recv(&self) -> Result<T, TryRecvError> {
                match &self.0 {
                    Side::Real(receiver) => receiver.try_recv(),
                    Side::Model(core) => {
                        core.try_receive(Location::caller()).map_err(|why| match why {
                            Nothing::Empty => TryRecvError::Empty,
                            Nothing::Disconnected => TryRecvError::Disconnected,
                        })
                    }
                }
            }

            /// Receives, or gives up when the time is over. Under test both may happen.
            #[inline(always)]
            #[track_caller]
            pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                match &self.0 {
                    Side::Real(receiver) => receiver.recv_timeout(timeout),
                    Side::Model(core) => {
                        core.receive_timeout(Location::caller()).map_err(|why| match why {
                            Nothing::Empty => RecvTimeoutError::Timeout,
                            Nothing::Disconnected => RecvTimeoutError::Disconnected,
                        })
                    }
                }
            }

            /// Receives until no message can come any more.
            pub fn iter(&self) -> Iter<'_, T> {
                Iter(self)
            }

            /// Receives what is there, until nothing is.
            pub fn try_iter(&self) -> TryIter<'_, T> {
                TryIter(self)
            }
        }

        $crate::sides::dropped_side!($name, drop_receiver);

        /// The messages of a channel until it is disconnected.
        #[derive(Debug)]
        pub struct Iter<'r, T>(&'r $name<T>);

        /// The messages of a channel until none is there.
        #[derive(Debug)]
        pub struct TryIter<'r, T>(&'r $name<T>);

        /// The messages of a channel until it is disconnected, with the channel.
        #[derive(Debug)]
        pub struct IntoIter<T>($name<T>);

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<'r, T> IntoIterator for &'r $name<T> {
            type Item = T;
            type IntoIter = Iter<'r, T>;

            fn into_iter(self) -> Iter<'r, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for $name<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter(self)
            }
        }
    };
}

/// Dropping, which is a step, and being shown.
macro_rules! dropped_side {
    ($name:ident, $drop:ident) => {
        impl<T> Drop for $name<T> {
            #[inline(always)]
            #[track_caller]
            fn drop(&mut self) {
                if let Side::Model(core) = &self.0
                    && under_test()
                {
                    core.$drop(Location::caller());
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

pub(crate) use {dropped_side, receiver_side, sender_side, trying_sender_side};
