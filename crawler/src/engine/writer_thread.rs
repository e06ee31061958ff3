//! [`WriterHost`]: what runs the writer; [`WriterThread`]: a thread for the writer, which real crawls use.
//!
//! Does not know: what a message means.

use std::{
    panic::resume_unwind,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::mpsc::Receiver, time::timeout};

use super::EngineError;
use crate::store::{Incoming, Message, StoreError, StoreWriter};

/// Runs a writer, whatever that takes: a thread, or a task where time is simulated.
pub trait WriterHost {
    /// Gives a writer its messages, and the time; it ends with the channel, or with its first failure. To be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// [`EngineError::Thread`] when it cannot begin.
    fn run<W: StoreWriter>(
        self,
        writer: W,
        messages: Receiver<Message>,
    ) -> Result<impl Future<Output = Result<(), StoreError>> + Send + 'static, EngineError>;
}

/// A thread of its own: what it does takes long, and others are not to wait for it.
#[derive(Debug, Clone, Copy)]
pub struct WriterThread;

impl WriterHost for WriterThread {
    fn run<W: StoreWriter>(
        self,
        mut writer: W,
        messages: Receiver<Message>,
    ) -> Result<impl Future<Output = Result<(), StoreError>> + Send + 'static, EngineError> {
        let mut inbox = Inbox::new(messages);
        // What it logs is logged as the run's.
        let span = tracing::Span::current();
        let write = move || {
            span.in_scope(|| {
                while writer.write(inbox.next(writer.patience(Instant::now())), Instant::now())?.is_continue() {}
                Ok(())
            })
        };
        let thread: JoinHandle<Result<(), StoreError>> =
            thread::Builder::new().name("writer".into()).spawn(write).map_err(EngineError::Thread)?;
        Ok(async {
            let joined = tokio::task::spawn_blocking(|| thread.join()).await.expect("joining a thread never panics");
            joined.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}

/// The writer's end of its channel, on a thread without a runtime.
struct Inbox {
    receiver: Receiver<Message>,
    runtime: Handle,
}

impl Inbox {
    /// Must be called within a tokio runtime, which has the timers.
    fn new(receiver: Receiver<Message>) -> Self {
        Self { receiver, runtime: Handle::current() }
    }

    /// The next message. It is waited for so long at most, or for as long as it takes.
    fn next(&mut self, patience: Option<Duration>) -> Incoming {
        let Some(patience) = patience else {
            return self.receiver.blocking_recv().map_or(Incoming::End, Incoming::Message);
        };
        if patience.is_zero() {
            return Incoming::Nothing;
        }
        // Most have arrived before they are asked for: a timer costs more than a look.
        if let Ok(message) = self.receiver.try_recv() {
            return Incoming::Message(message);
        }
        let receiver = &mut self.receiver;
        match self.runtime.block_on(async { timeout(patience, receiver.recv()).await }) {
            Ok(Some(message)) => Incoming::Message(message),
            Ok(None) => Incoming::End,
            Err(_) => Incoming::Nothing,
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
        assert!(matches!(inbox.next(at_once), Incoming::Nothing), "a group that is due goes first");
        assert!(matches!(inbox.next(soon), Incoming::Message(_)));
        assert!(matches!(inbox.next(None), Incoming::Message(_)));
        assert!(matches!(inbox.next(soon), Incoming::Message(_)));
        assert!(matches!(inbox.next(soon), Incoming::Nothing));
        drop(sender);
        assert!(matches!(inbox.next(soon), Incoming::End));
        assert!(matches!(inbox.next(None), Incoming::End));
    }
}
