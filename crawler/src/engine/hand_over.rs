//! [`HandOver`]: the core's way to the writer.
//!
//! Owns: which steps are sent together. Waking the writer for each page costs about as much as writing the page.
//!
//! Invariants: messages are sent in the order in which they were given; a question is sent after all steps before it. At most
//! [`MOST_UNCOMMITTED`] steps are given but not committed. The steps that are not written yet have at most [`MOST_ROWS`] rows and
//! [`MOST_KIB`] KiB for takers, plus those of one step.
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

/// Bytes for takers that are sent together; a step with more is sent alone.
const BATCH_BYTES: usize = 1024 * 1024;

/// The same on their way to the writer, in KiB. A step with more takes all the room.
const MOST_KIB: usize = 16 * 1024;

/// Messages in the channel: questions among them, and batches of one step.
const MOST_MESSAGES: usize = 64;

/// Sends the core's messages to the writer.
pub(super) struct HandOver {
    writer: mpsc::Sender<Message>,
    /// Room for steps that are sent and not yet written.
    sent: Arc<Semaphore>,
    room: Arc<Semaphore>,
    kib: Arc<Semaphore>,
    most: usize,
    #[expect(clippy::vec_box, reason = "a step is large, and is a box before and after")]
    steps: Vec<Box<Step>>,
    rows: usize,
    bytes: usize,
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
        let kib = Arc::new(Semaphore::new(MOST_KIB - BATCH_BYTES / 1024));
        let alarm = Box::pin(sleep_until(Instant::now()));
        (Self { writer, sent, room, kib, most, steps: Vec::new(), rows: 0, bytes: 0, alarm }, receiver)
    }

    /// Gives a step, which is sent with others soon; waits while the writer is behind.
    ///
    /// # Errors
    /// [`EngineError::WriterGone`].
    pub(super) async fn step(&mut self, step: Box<Step>) -> Result<(), EngineError> {
        let bytes = step.kept_bytes();
        if self.rows + step.rows.len() > BATCH_ROWS || self.bytes + bytes > BATCH_BYTES {
            self.flush().await?;
        }
        if self.steps.is_empty() {
            self.alarm.as_mut().reset(Instant::now() + PATIENCE);
        }
        self.rows += step.rows.len();
        self.bytes += bytes;
        self.steps.push(step);
        if self.steps.len() < self.most && self.rows <= BATCH_ROWS && self.bytes <= BATCH_BYTES {
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
        let room = self.room_for(1, step.rows.len(), step.kept_bytes()).await?;
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
        let room = self.room_for(self.steps.len(), self.rows, self.bytes).await?;
        (self.rows, self.bytes) = (0, 0);
        let next = Vec::with_capacity(self.most);
        let steps = std::mem::replace(&mut self.steps, next);
        self.send(Message::Steps(steps, room)).await
    }

    async fn room_for(&self, steps: usize, rows: usize, bytes: usize) -> Result<Room, EngineError> {
        let kib = bytes.div_ceil(1024).min(MOST_KIB - BATCH_BYTES / 1024);
        let [steps, rows, kib] = [steps, rows.clamp(1, MOST_ROWS - BATCH_ROWS), kib]
            .map(|number| u32::try_from(number).expect("it is a small number"));
        let room = async {
            let steps = Arc::clone(&self.sent).acquire_many_owned(steps).await;
            let rows = Arc::clone(&self.room).acquire_many_owned(rows).await;
            (steps, rows, Arc::clone(&self.kib).acquire_many_owned(kib).await)
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
    use crate::{
        candidate::{HostId, Ticket},
        store::{Counters, KeptPart, VisitOutcome, VisitRow},
        time::Moment,
    };

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
    async fn bytes_for_takers_are_bounded_and_the_largest_goes_alone() {
        const KIB: usize = 600;
        let kept = |bytes| {
            let visit = VisitRow {
                kept: vec![None, Some(KeptPart::new((), bytes))],
                ..VisitRow::new(Ticket(1), Moment::EPOCH, VisitOutcome::Failed, None)
            };
            Box::new(Step { visit: Some(visit), ..Step::default() })
        };
        let patience = Duration::from_millis(50);
        let (mut hand_over, mut receiver) = HandOver::new(100);
        let mut given = 0;
        while tokio::time::timeout(patience, hand_over.step(kept(KIB * 1024))).await.is_ok() {
            given += 1;
        }
        assert!(given > 10 && given * KIB <= MOST_KIB, "{given} steps");
        let Message::Steps(steps, room) = receiver.recv().await.unwrap() else { panic!("no steps") };
        assert_eq!(steps.len(), 1, "two of them are more than goes together");
        drop(room);
        tokio::time::timeout(patience, hand_over.flush()).await.unwrap().unwrap();
        let (mut hand_over, mut receiver) = HandOver::new(100);
        hand_over.step(kept(1)).await.unwrap();
        // It has all the room once what was sent before it is written.
        let large = tokio::time::timeout(patience, hand_over.step(kept(100 * MOST_KIB * 1024)));
        let mut written = async || matches!(receiver.recv().await, Some(Message::Steps(steps, _)) if steps.len() == 1);
        let (sent, first) = tokio::join!(large, written());
        sent.unwrap().unwrap();
        assert!(first && written().await);
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
