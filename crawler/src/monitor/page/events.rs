//! [`Events`]: what has changed of a page, as server-sent events.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::{Semaphore, mpsc};

use super::PortPage;

/// How often it is looked whether anything has changed.
const PAUSE: Duration = Duration::from_secs(2);

/// For how long events come: less than a connection lasts. Whoever still looks asks again.
const LENGTH: Duration = Duration::from_secs(50);

/// The body of an answer that comes piece by piece.
pub(in crate::monitor) struct Events(mpsc::Receiver<Bytes>);

impl Events {
    /// Those of a page, made when it is their turn, for as long as somebody reads them.
    pub(in crate::monitor) fn of(page: Arc<PortPage>, turn: Arc<Semaphore>) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(send(page, turn, sender));
        Self(receiver)
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

async fn send(page: Arc<PortPage>, turn: Arc<Semaphore>, sender: mpsc::Sender<Bytes>) {
    let began = Instant::now();
    let mut last: Arc<str> = "".into();
    while began.elapsed() < LENGTH {
        let Ok(permit) = Arc::clone(&turn).acquire_owned().await else { return };
        let page = Arc::clone(&page);
        let made = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            page.body()
        });
        let Ok(body) = made.await else { return };
        // A line that says nothing shows whether anybody reads.
        let event =
            if body == last { ":\n\n".to_owned() } else { format!("retry: 2000\nevent: page\ndata: {body}\n\n") };
        last = body;
        if sender.send(event.into()).await.is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
