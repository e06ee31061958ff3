//! [`Disk`]: runs the writer of a simulated process. It is slow at times, and may be full for a while.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::{mpsc::Receiver, watch},
    time::{Instant, sleep, timeout},
};

use super::{
    super::{EngineError, WriterHost},
    Random,
    process::QuestionKind,
    time,
};
use crate::store::{Incoming, Message, StoreError, StoreWriter};

/// Questions in a row after which nothing will ever come of the answers.
const ENDLESSLY: u32 = 10_000;

/// A disk, and how it does.
#[derive(Debug, Clone)]
pub(super) struct Disk(pub(super) Arc<Mutex<State>>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) random: Random,
    /// From and to when it is full, in milliseconds from the beginning.
    pub(super) full: Option<(u64, u64)>,
    /// Whether it was in this run.
    pub(super) was_full: bool,
    /// The first question of this kind has the process killed so many milliseconds later.
    pub(super) kill_at: Option<(QuestionKind, u64)>,
    /// When it was at work, from and to, in order.
    pub(super) busy: Vec<(u64, u64)>,
    /// How often the URL cache was filled from the URL table.
    pub(super) fillings: u64,
    /// Questions since anything was written.
    pub(super) asked_in_vain: u32,
    /// When the process is killed.
    pub(super) kills: watch::Sender<Option<u64>>,
}

impl State {
    /// How long a message takes: mostly next to nothing, rarely seconds.
    fn latency(&mut self) -> Duration {
        let millis = match self.random.below(200) {
            0 => 1_000 + self.random.below(9_000),
            1..10 => self.random.below(300),
            _ => self.random.below(5),
        };
        self.busy.push((time::now(), time::now() + millis));
        Duration::from_millis(millis)
    }

    /// Whether it was at work at some time between two moments.
    pub(super) fn was_busy(&self, from: u64, to: u64) -> bool {
        let first = self.busy.partition_point(|(_, end)| *end < from);
        self.busy.get(first).is_some_and(|(begin, _)| *begin <= to)
    }

    fn sees(&mut self, message: &Message) {
        let asked = match message {
            Message::Refill(..) => QuestionKind::Rows,
            Message::Sweep(..) => QuestionKind::Sweep,
            Message::Replay(_) => QuestionKind::Fill,
            Message::LinksToCheck(..) => QuestionKind::LinksToCheck,
            Message::UnsurePages(..) => QuestionKind::UnsurePages,
            _ => {
                self.asked_in_vain = 0;
                return;
            }
        };
        self.asked_in_vain += 1;
        assert!(self.asked_in_vain < ENDLESSLY, "it asks again and again, and does nothing with the answers");
        self.fillings += u64::from(asked == QuestionKind::Fill);
        if let Some((_, pause)) = self.kill_at.take_if(|(kind, _)| *kind == asked) {
            self.kills.send_replace(Some(time::now() + pause));
        }
    }

    fn is_full(&mut self) -> bool {
        let is_full = self.full.is_some_and(|(from, to)| (from..to).contains(&time::now()));
        self.was_full |= is_full;
        is_full
    }
}

impl WriterHost for Disk {
    fn run<W: StoreWriter>(
        self,
        writer: W,
        messages: Receiver<Message>,
    ) -> Result<impl Future<Output = Result<(), StoreError>>, EngineError> {
        // A kill drops the runtime, and with it this task wherever it is.
        let task = tokio::spawn(write(self, writer, messages));
        Ok(async { task.await.expect("the writer does not panic") })
    }
}

async fn write<W: StoreWriter>(disk: Disk, mut writer: W, mut messages: Receiver<Message>) -> Result<(), StoreError> {
    loop {
        let next = match writer.patience(Instant::now().into_std()) {
            None => messages.recv().await.map_or(Incoming::End, Incoming::Message),
            Some(patience) => match timeout(patience, messages.recv()).await {
                Ok(message) => message.map_or(Incoming::End, Incoming::Message),
                Err(_) => Incoming::Nothing,
            },
        };
        let latency = {
            let mut disk = disk.0.lock().unwrap();
            if let Incoming::Message(message) = &next {
                disk.sees(message);
            }
            disk.latency()
        };
        sleep(latency).await;
        if disk.0.lock().unwrap().is_full() {
            return Err(StoreError::Unwritable { path: PathBuf::new(), source: io::ErrorKind::StorageFull.into() });
        }
        if writer.write(next, Instant::now().into_std())?.is_break() {
            return Ok(());
        }
    }
}
