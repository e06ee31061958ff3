//! [`EventStream`]: a crawl as a stream.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::Stream;
use tokio::sync::mpsc;

use super::{
    CrawlError, Event, Flow, StopHandle, Summary,
    handling::{Handling, is_given_up},
};
use crate::engine::Handed;

/// A crawl that runs while it is polled, and what comes of its URLs. See [`Crawl::stream`](crate::Crawl::stream).
///
/// ```no_run
/// use webloom::{Crawl, Event, StreamExt};
///
/// # async fn example() -> Result<(), webloom::CrawlError> {
/// let mut events = Crawl::new("https://docs.example.org/").stream()?;
/// while let Some(event) = events.next().await {
///     if let Event::Failed(visit, failure) = event {
///         println!("{} {failure}", visit.url());
///     }
/// }
/// println!("{}", events.finish().await?);
/// # Ok(())
/// # }
/// ```
#[must_use = "a crawl does nothing before it is polled"]
pub struct EventStream {
    crawl: Option<Crawling>,
    summary: Option<Result<Summary, CrawlError>>,
    events: mpsc::Receiver<Handed>,
    stop: StopHandle,
    given: Option<Handling>,
    flow: Flow,
}

/// A crawl that is under way.
type Crawling = Pin<Box<dyn Future<Output = Result<Summary, CrawlError>> + Send>>;

impl EventStream {
    pub(super) fn new(crawl: Crawling, events: mpsc::Receiver<Handed>, stop: StopHandle) -> Self {
        Self { crawl: Some(crawl), summary: None, events, stop, given: None, flow: Flow::Continue }
    }

    /// How the crawl goes on after the last event, as if a function that was given it had returned this.
    pub fn go_on(&mut self, flow: Flow) {
        self.flow = flow;
    }

    /// What the crawl came to. If it has not ended, it is stopped: that takes up to 10 s, and events that nobody has asked for are
    /// given out by the next run.
    ///
    /// # Errors
    /// [`CrawlError`] as for [`Crawl::run`](crate::Crawl::run).
    pub async fn finish(mut self) -> Result<Summary, CrawlError> {
        self.answer();
        match (self.summary, self.crawl) {
            (Some(summary), _) => summary,
            (None, Some(crawl)) => {
                self.stop.stop();
                crawl.await
            }
            (None, None) => unreachable!("a crawl that has ended has a summary"),
        }
    }

    /// The last event is handled.
    fn answer(&mut self) {
        let flow = std::mem::replace(&mut self.flow, Flow::Continue);
        if let Some(given) = self.given.take() {
            given.follow(flow, &self.stop);
        }
    }

    fn poll_crawl(&mut self, context: &mut Context<'_>) {
        if let Some(crawl) = &mut self.crawl
            && let Poll::Ready(summary) = crawl.as_mut().poll(context)
        {
            (self.crawl, self.summary) = (None, Some(summary));
        }
    }
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let stream = self.get_mut();
        stream.answer();
        stream.poll_crawl(context);
        loop {
            match stream.events.poll_recv(context) {
                Poll::Ready(Some(handed)) if is_given_up(&handed) => {}
                Poll::Ready(Some(handed)) => {
                    let (event, given) = Handling::of(handed);
                    stream.given = Some(given);
                    return Poll::Ready(Some(event));
                }
                Poll::Ready(None) if stream.crawl.is_none() => return Poll::Ready(None),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("has_ended", &self.crawl.is_none()).finish_non_exhaustive()
    }
}
