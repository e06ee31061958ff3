//! [`Inbox`]: where the writer finds what the core has sent.
//!
//! Does not know: what a message means.

use std::time::Duration;

use tokio::{runtime::Handle, sync::mpsc::Receiver, time::timeout};

use crate::store::{Message, Messages, Next};

/// The writer's end of its channel, on a thread without a runtime.
pub(super) struct Inbox {
    receiver: Receiver<Message>,
    runtime: Handle,
}

impl Inbox {
    /// Must be called within a tokio runtime, which has the timers.
    pub(super) fn new(receiver: Receiver<Message>) -> Self {
        Self { receiver, runtime: Handle::current() }
    }
}

impl Messages for Inbox {
    fn next(&mut self, patience: Option<Duration>) -> Next {
        let Some(patience) = patience else {
            return self.receiver.blocking_recv().map_or(Next::End, Next::Message);
        };
        if patience.is_zero() {
            return Next::Nothing;
        }
        // Most have arrived before they are asked for: a timer costs more than a look.
        if let Ok(message) = self.receiver.try_recv() {
            return Next::Message(message);
        }
        let receiver = &mut self.receiver;
        match self.runtime.block_on(async { timeout(patience, receiver.recv()).await }) {
            Ok(Some(message)) => Next::Message(message),
            Ok(None) => Next::End,
            Err(_) => Next::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::candidate::HostId;

    #[test]
    fn gives_what_was_sent_then_nothing_then_the_end() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (sender, receiver) = mpsc::channel(9);
        let mut inbox = runtime.block_on(async { Inbox::new(receiver) });
        let send = || sender.try_send(Message::Robots(HostId(0), Box::new(|_| ()))).unwrap();
        let (soon, at_once) = (Some(Duration::from_millis(1)), Some(Duration::ZERO));
        send();
        send();
        send();
        assert!(matches!(inbox.next(at_once), Next::Nothing), "a group that is due goes first");
        assert!(matches!(inbox.next(soon), Next::Message(_)));
        assert!(matches!(inbox.next(None), Next::Message(_)));
        assert!(matches!(inbox.next(soon), Next::Message(_)));
        assert!(matches!(inbox.next(soon), Next::Nothing));
        drop(sender);
        assert!(matches!(inbox.next(soon), Next::End));
        assert!(matches!(inbox.next(None), Next::End));
    }
}
