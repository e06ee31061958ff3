//! [`HandOver`]: the core's way to the writer.
//!
//! Owns: the steps that are to be sent together. Waking the writer for each page costs about as much as writing the page.
//!
//! Invariants: messages are sent in the order in which they were given; a question is sent after all steps before it. What
//! was given but is not committed is [`MOST_UNCOMMITTED`] steps at most, and never more rows than [`MOST_ROWS`] and those of
//! one step.
//!
//! Does not know: what a step means.

use std::{pin::Pin, sync::Arc, time::Duration};

use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, Sleep, sleep_until},
};

use super::EngineError;
use crate::store::{Confirmed, Message, Reply, Room, Step};

/// Visits that a kill costs at most, beside the leases in flight.
const MOST_UNCOMMITTED: usize = 200;

/// Steps that the writer may commit together: a batch of one waits here, in the channel, and in the writer's hand.
pub(super) const MOST_COMMITTED_TOGETHER: usize = MOST_UNCOMMITTED - 3;

/// Steps that are sent together.
const BATCH: usize = 32;

/// How long a step waits for others.
const PATIENCE: Duration = Duration::from_millis(20);

/// Rows that are sent together; a step with more is sent alone.
const BATCH_ROWS: usize = 1_000;

/// Rows of the URL table on their way to the writer: a few pages with very many links must not fill the memory. A step
/// with more takes all the room.
const MOST_ROWS: usize = 5_000;

/// Sends the core's messages to the writer.
pub(super) struct HandOver {
    writer: mpsc::Sender<Message>,
    room: Arc<Semaphore>,
    most: usize,
    #[expect(clippy::vec_box, reason = "a step is large, and is a box before and after")]
    steps: Vec<Box<Step>>,
    rows: usize,
    alarm: Pin<Box<Sleep>>,
}

impl HandOver {
    /// The two ends of the way to a writer that commits after so many steps. Must be called within a tokio runtime.
    pub(super) fn new(commit_steps: usize) -> (Self, mpsc::Receiver<Message>) {
        let share = MOST_UNCOMMITTED - commit_steps.min(MOST_COMMITTED_TOGETHER);
        // A batch waits here, one is in the writer's hand, and the others are in the channel.
        let most = BATCH.min(share / 3);
        let (writer, receiver) = mpsc::channel(share / most - 2);
        let room = Arc::new(Semaphore::new(MOST_ROWS - BATCH_ROWS));
        let alarm = Box::pin(sleep_until(Instant::now()));
        (Self { writer, room, most, steps: Vec::new(), rows: 0, alarm }, receiver)
    }

    /// Gives a step, which is sent with others soon; waits while the writer is behind.
    ///
    /// # Errors
    /// [`EngineError::WriterGone`].
    pub(super) async fn step(&mut self, step: Box<Step>) -> Result<(), EngineError> {
        if self.rows + step.rows.len() > BATCH_ROWS {
            self.flush().await?;
        }
        if self.steps.is_empty() {
            self.alarm.as_mut().reset(Instant::now() + PATIENCE);
        }
        self.rows += step.rows.len();
        self.steps.push(step);
        if self.steps.len() < self.most && self.rows <= BATCH_ROWS {
            return Ok(());
        }
        self.flush().await
    }

    /// Sends a step some rows of which may be known, and has the answer replied.
    ///
    /// # Errors
    /// [`EngineError::WriterGone`].
    pub(super) async fn propose(&mut self, step: Box<Step>, reply: Reply<Confirmed>) -> Result<(), EngineError> {
        self.flush().await?;
        let room = self.room_for(step.rows.len()).await?;
        self.send(Message::Propose(step, room, reply)).await
    }

    /// Sends any other message.
    ///
    /// # Errors
    /// [`EngineError::WriterGone`].
    pub(super) async fn message(&mut self, message: Message) -> Result<(), EngineError> {
        self.flush().await?;
        self.send(message).await
    }

    /// Waits until what was given is to be [sent](Self::flush).
    ///
    /// # Errors
    /// [`EngineError::WriterGone`], at once when the writer ends.
    pub(super) async fn due(&mut self) -> Result<(), EngineError> {
        let waiting = !self.steps.is_empty();
        tokio::select! {
            () = self.alarm.as_mut(), if waiting => Ok(()),
            () = self.writer.closed() => Err(EngineError::WriterGone),
        }
    }

    /// Sends what was given.
    ///
    /// # Errors
    /// [`EngineError::WriterGone`].
    pub(super) async fn flush(&mut self) -> Result<(), EngineError> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let room = self.room_for(self.rows).await?;
        self.rows = 0;
        let next = Vec::with_capacity(self.most);
        let steps = std::mem::replace(&mut self.steps, next);
        self.send(Message::Steps(steps, room)).await
    }

    async fn room_for(&self, rows: usize) -> Result<Room, EngineError> {
        let rows = u32::try_from(rows.clamp(1, MOST_ROWS - BATCH_ROWS)).expect("it is a small number");
        tokio::select! {
            room = Arc::clone(&self.room).acquire_many_owned(rows) => Ok(Box::new(room)),
            () = self.writer.closed() => Err(EngineError::WriterGone),
        }
    }

    async fn send(&self, message: Message) -> Result<(), EngineError> {
        self.writer.send(message).await.map_err(|_| EngineError::WriterGone)
    }
}
