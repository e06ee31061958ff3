//! [`HandOver`]: the core's way to the writer.
//!
//! Owns: the steps that are to be sent together. Waking the writer for each page costs about as much as writing the page.
//!
//! Invariants: messages are sent in the order in which they were given; a question is sent after all steps before it. What
//! was given but is not committed is [`MOST_UNCOMMITTED`] steps at most; what is not written yet has no more rows than
//! [`MOST_ROWS`] and those of one step.
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

/// Steps that the writer may commit together: others must be on their way meanwhile.
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

/// Messages in the channel: questions among them, and batches of one step.
const MOST_MESSAGES: usize = 64;

/// Sends the core's messages to the writer.
pub(super) struct HandOver {
    writer: mpsc::Sender<Message>,
    /// Room for steps that are sent and not yet written.
    sent: Arc<Semaphore>,
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
        let uncommitted = MOST_UNCOMMITTED - commit_steps.min(MOST_COMMITTED_TOGETHER);
        // While a batch is gathered here, one is in the channel and one in the writer's hand.
        let most = BATCH.min(uncommitted / 3);
        let (writer, receiver) = mpsc::channel(MOST_MESSAGES);
        let sent = Arc::new(Semaphore::new(uncommitted - most));
        let room = Arc::new(Semaphore::new(MOST_ROWS - BATCH_ROWS));
        let alarm = Box::pin(sleep_until(Instant::now()));
        (Self { writer, sent, room, most, steps: Vec::new(), rows: 0, alarm }, receiver)
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
        let room = self.room_for(1, step.rows.len()).await?;
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
        let room = self.room_for(self.steps.len(), self.rows).await?;
        self.rows = 0;
        let next = Vec::with_capacity(self.most);
        let steps = std::mem::replace(&mut self.steps, next);
        self.send(Message::Steps(steps, room)).await
    }

    async fn room_for(&self, steps: usize, rows: usize) -> Result<Room, EngineError> {
        let [steps, rows] = [steps, rows.clamp(1, MOST_ROWS - BATCH_ROWS)]
            .map(|number| u32::try_from(number).expect("it is a small number"));
        let room = async {
            let steps = Arc::clone(&self.sent).acquire_many_owned(steps).await;
            (steps, Arc::clone(&self.room).acquire_many_owned(rows).await)
        };
        tokio::select! {
            room = room => Ok(Box::new(room)),
            () = self.writer.closed() => Err(EngineError::WriterGone),
        }
    }

    async fn send(&self, message: Message) -> Result<(), EngineError> {
        self.writer.send(message).await.map_err(|_| EngineError::WriterGone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{candidate::HostId, store::Counters};

    fn step(number: u64) -> Box<Step> {
        Box::new(Step { counters: Counters { candidates: number, ..Counters::default() }, ..Step::default() })
    }

    fn numbers(message: &Message) -> Vec<u64> {
        let Message::Steps(steps, _) = message else { return Vec::new() };
        steps.iter().map(|step| step.counters.candidates).collect()
    }

    #[tokio::test]
    async fn a_question_goes_after_the_steps_before_it() {
        let (mut hand_over, mut receiver) = HandOver::new(100);
        for number in 1..=40 {
            hand_over.step(step(number)).await.unwrap();
        }
        hand_over.message(Message::Robots(HostId(0), Box::new(|_| ()))).await.unwrap();
        hand_over.step(step(41)).await.unwrap();
        hand_over.due().await.unwrap();
        hand_over.flush().await.unwrap();
        drop(hand_over);
        let mut batches = Vec::new();
        while let Some(message) = receiver.recv().await {
            batches.push(numbers(&message));
        }
        assert_eq!(batches, [(1..=32).collect(), (33..=40).collect(), vec![], vec![41]]);
    }

    #[tokio::test]
    async fn no_more_is_on_its_way_than_a_kill_may_cost() {
        for commit_steps in [1, 50, 100, 150, 196, 197] {
            let (mut hand_over, mut receiver) = HandOver::new(commit_steps);
            let mut given = 0;
            let patience = Duration::from_millis(50);
            while tokio::time::timeout(patience, hand_over.step(step(0))).await.is_ok() {
                given += 1;
            }
            assert!(given > 0 && given + commit_steps <= MOST_UNCOMMITTED, "{given} beside {commit_steps}");
            // What is written makes room.
            assert!(!numbers(&receiver.recv().await.unwrap()).is_empty());
            tokio::time::timeout(patience, hand_over.flush()).await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_writer_that_ended_is_noticed_while_room_is_waited_for() {
        let (mut hand_over, receiver) = HandOver::new(197);
        let give = async {
            loop {
                hand_over.step(step(0)).await?;
            }
        };
        let end = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(receiver);
            std::future::pending::<()>().await;
        };
        let ended: Result<(), EngineError> = tokio::select! {
            ended = give => ended,
            () = end => Ok(()),
        };
        assert!(matches!(ended, Err(EngineError::WriterGone)));
    }
}
