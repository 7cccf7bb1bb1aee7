//! Channels with many senders and one receiver, as in `tokio::sync::mpsc`.

pub use super::mpsc_bounded::{
    OwnedPermit, Permit, PermitIterator, Receiver, Sender, WeakSender, channel,
};
pub use super::mpsc_unbounded::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel,
};
pub use tokio::sync::mpsc::error;

/// Receiving, which is the same for both kinds of channels.
macro_rules! receiver {
    ($name:ident) => {
        impl<T> $name<T> {
            /// Receives a message, or nothing if the channel is closed and empty.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> + '_ {
                let place = Location::caller();
                let $name { real, point, is_over, .. } = self;
                let point: &Point = point;
                async move {
                    let message = point.wait("recv", place, real.recv()).await;
                    *is_over |= message.is_none();
                    message
                }
            }

            /// Receives up to so many messages at once. Gives how many; 0 if the channel is closed and empty.
            #[track_caller]
            pub fn recv_many<'a>(
                &'a mut self,
                buffer: &'a mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> + 'a {
                self.point.wait("recv_many", Location::caller(), self.real.recv_many(buffer, limit))
            }

            /// Receives a message if one is there.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                let $name { real, point, .. } = self;
                point.operation("try_recv", Location::caller(), || real.try_recv())
            }

            /// Receives a message on a thread that may block.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                if extend::under_test() {
                    crate::task::block_on(self.recv())
                } else {
                    self.real.blocking_recv()
                }
            }

            /// Receives up to so many messages on a thread that may block.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                if extend::under_test() {
                    crate::task::block_on(self.recv_many(buffer, limit))
                } else {
                    self.real.blocking_recv_many(buffer, limit)
                }
            }

            /// Closes the channel: nothing can be sent any more, what was sent can be received.
            #[track_caller]
            pub fn close(&mut self) {
                let $name { real, point, .. } = self;
                point.operation("close", Location::caller(), || real.close());
            }

            /// Is the channel closed?
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.point.look("is_closed", Location::caller(), || self.real.is_closed())
            }

            /// Is no message there?
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.point.look("is_empty", Location::caller(), || self.real.is_empty())
            }

            /// How many messages are there?
            #[track_caller]
            pub fn len(&self) -> usize {
                self.point.look("len", Location::caller(), || self.real.len())
            }

            /// Polls for a message.
            #[track_caller]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
                let $name { real, point, polling, .. } = self;
                let receive = |context: &mut Context<'_>| real.poll_recv(context);
                polling.poll(point, "poll_recv", context, Location::caller(), receive)
            }

            /// Polls for up to so many messages.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                context: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                let $name { real, point, polling, .. } = self;
                let receive =
                    |context: &mut Context<'_>| real.poll_recv_many(context, buffer, limit);
                polling.poll(point, "poll_recv_many", context, Location::caller(), receive)
            }

            /// How many senders are there?
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                $crate::point::counts_handles();
                let count = || self.real.sender_strong_count();
                self.point.look("sender_strong_count", Location::caller(), count)
            }

            /// How many weak senders are there?
            #[track_caller]
            pub fn sender_weak_count(&self) -> usize {
                $crate::point::counts_handles();
                let count = || self.real.sender_weak_count();
                self.point.look("sender_weak_count", Location::caller(), count)
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                // A receiver that was told that nothing can come any more leaves nothing behind.
                if extend::under_test() && !self.is_over {
                    let place = Location::caller();
                    let closes = || {
                        self.real.close();
                        let mut left = Vec::new();
                        while let Ok(message) = self.real.try_recv() {
                            left.push(message);
                        }
                        left
                    };
                    // The messages are dropped after the step: that may be steps of other objects.
                    drop(self.point.clone().operation("drop receiver", place, closes));
                    self.polling.cancel();
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// What senders of both kinds have in common.
macro_rules! sender {
    ($name:ident, $weak:ident, $real:ident) => {
        impl<T> $name<T> {
            /// Waits until the channel is closed by its receiver.
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> + '_ {
                self.point.wait("closed", Location::caller(), self.real.closed())
            }

            /// Is the channel closed?
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.point.look("is_closed", Location::caller(), || self.real.is_closed())
            }

            /// Do both send to the same channel?
            pub fn same_channel(&self, other: &Self) -> bool {
                self.real.same_channel(&other.real)
            }

            /// A sender that does not keep the channel open.
            #[track_caller]
            pub fn downgrade(&self) -> $weak<T> {
                let place = Location::caller();
                let real = self.point.operation("downgrade", place, || self.real.downgrade());
                $weak { real, point: self.point.clone() }
            }

            /// How many senders are there?
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                $crate::point::counts_handles();
                self.point.look("strong_count", Location::caller(), || self.real.strong_count())
            }

            /// How many weak senders are there?
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                $crate::point::counts_handles();
                self.point.look("weak_count", Location::caller(), || self.real.weak_count())
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                $name { real: Real::new((*self.real).clone()), point: self.point.clone() }
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                if !extend::under_test() {
                    return;
                }
                let is_last = |real: &_| $real::strong_count(real) == 1;
                let place = Location::caller();
                if let Some(real) = self.real.take() {
                    self.point.drop_if("drop sender", place, real, is_last);
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T> $weak<T> {
            /// A sender, if the channel was not closed by the end of all senders.
            #[track_caller]
            pub fn upgrade(&self) -> Option<$name<T>> {
                let place = Location::caller();
                let real = self.point.operation("upgrade", place, || self.real.upgrade())?;
                Some($name { real: Real::new(real), point: self.point.clone() })
            }

            /// How many senders are there?
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                $crate::point::counts_handles();
                self.point.look("strong_count", Location::caller(), || self.real.strong_count())
            }

            /// How many weak senders are there?
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                $crate::point::counts_handles();
                self.point.look("weak_count", Location::caller(), || self.real.weak_count())
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                $weak { real: self.real.clone(), point: self.point.clone() }
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use {receiver, sender};
