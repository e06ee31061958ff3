//! How a [`Crawl`] is run, and how its events are given out.

use std::{
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tempfile::TempDir;
use tokio::{sync::mpsc, time::timeout};

use super::{
    Crawl, CrawlError, Event, EventStream, Flow, Page, Summary,
    fetcher::Fetcher,
    handling::{Handling, is_given_up},
    runner::Runner,
};
use crate::{
    clock::Clock,
    engine::{Handed, RunEnd, StopSignal, VisitEvents},
    session::{CommandFailure, Round, Session, Start, directory::CrawlDirectory, starts},
    store::Revisit,
    url::Credentials,
};

/// How long events are given out that are left when a crawl was stopped.
const LAST_EVENTS: Duration = Duration::from_secs(1);

/// A session about to be run, with what its summary needs.
pub(super) struct CrawlRun<F> {
    session: Session<Runner<F>>,
    stop: StopSignal,
    dir: PathBuf,
    logged_in: bool,
    /// Removed at the end, where the crawl is not kept.
    _temporary: Option<TempDir>,
}

impl<F: Fetcher + 'static> Crawl<F> {
    /// Runs the crawl, and gives each page to `handle`, one after the other. It needs a tokio runtime with time and I/O.
    ///
    /// A page is recorded as fetched only after `handle` has returned. So each page of the crawl is given out at least once,
    /// whatever kills the process; one that was under way then, or was cut short and is fetched once more, is given out twice. Pages of
    /// an earlier run of the same sequence are not given out again, nor are those that a server calls unchanged, nor those that
    /// are fetched again to look for a lost URL. While `handle` works, nothing else does: on a runtime of one thread, requests under way
    /// may time out. Long work belongs on another thread.
    ///
    /// Dropping the future ends the crawl as a kill does: what was committed stays, and nothing is lost. The directory is in use until
    /// the last commit has ended, a moment later. To end a crawl in order, there is [`stop_handle`](Self::stop_handle).
    ///
    /// # Errors
    /// [`CrawlError`] when something is wrong with what was given, or the directory cannot be used or written. Servers that do not
    /// answer are no error: see [`Summary::end`].
    pub async fn run(self, mut handle: impl FnMut(Page)) -> Result<Summary, CrawlError> {
        let handle = move |page| {
            handle(page);
            std::future::ready(())
        };
        self.run_async(handle).await
    }

    /// As [`run`](Self::run), for a function that waits itself. Other requests go on meanwhile, but a page that waits to be given out
    /// holds its host's place (`politeness.per_host`). When the crawl ends before the function has returned (10 s after it was asked to
    /// stop, or because it failed), the function is dropped where it waits, and its page is given out by the next run.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_async<H, W>(self, mut handle: H) -> Result<Summary, CrawlError>
    where
        H: FnMut(Page) -> W,
        W: Future<Output = ()>,
    {
        let give = move |handed: Handed| {
            let is_rescue = handed.event.is_rescue;
            let (event, given) = Handling::of(handed);
            let waits = event.into_page().filter(|_| !is_rescue).map(&mut handle);
            async move {
                if let Some(handling) = waits {
                    handling.await;
                }
                given.answer(false);
            }
        };
        self.give_out(1, give).await
    }

    /// Runs the crawl, and gives what comes of each URL to `handle`, one after the other: pages, redirects, failures. What `handle`
    /// returns says how the crawl goes on.
    ///
    /// What [`run`](Self::run) promises of pages holds of pages that have not changed and of redirects as well. A page that is fetched
    /// again to look for a lost URL is given out once more, so that its links are the same: as [`Event::Unchanged`], if it is. A failure
    /// may be given out a moment before or after it is recorded; a kill in that moment may lose the event, never the record
    /// ([`Pages`](crate::Pages) has them all).
    ///
    /// ```no_run
    /// use webloom::{Crawl, Event, Flow};
    ///
    /// # async fn example() -> Result<(), webloom::CrawlError> {
    /// let crawl = Crawl::new("https://docs.example.org/");
    /// let summary = crawl.run_events(|event| match event {
    ///     Event::Page(page) if page.url().path().starts_with("/archive/") => Flow::SkipLinks,
    ///     Event::Failed(visit, failure) if failure.status == Some(500) => {
    ///         eprintln!("{} fails: the crawl is stopped", visit.url());
    ///         Flow::Stop
    ///     }
    ///     _ => Flow::Continue,
    /// });
    /// println!("{}", summary.await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_events(self, mut handle: impl FnMut(Event) -> Flow) -> Result<Summary, CrawlError> {
        self.run_events_async(1, move |event| std::future::ready(handle(event))).await
    }

    /// As [`run_events`](Self::run_events), for a function that waits itself: it is called for up to `at_once` events (at least one)
    /// that are handled beside each other and beside the crawl.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_events_async<H, W>(self, at_once: usize, mut handle: H) -> Result<Summary, CrawlError>
    where
        H: FnMut(Event) -> W,
        W: Future<Output = Flow>,
    {
        let stop = self.stop.clone();
        let give = move |handed| {
            let (event, given) = Handling::of(handed);
            let (handling, stop) = (handle(event), stop.clone());
            async move { given.follow(handling.await, &stop) }
        };
        self.give_out(at_once, give).await
    }

    /// The crawl as a stream of what comes of its URLs. It goes on while the stream is polled.
    ///
    /// An event counts as handled when the next one is asked for: what [`run_events`](Self::run_events) says of the return of its
    /// function holds then. Dropping the stream ends the crawl as a kill does.
    ///
    /// # Errors
    /// [`CrawlError`] when a start, a login or a directory cannot be used. What else is wrong is said by
    /// [`EventStream::finish`].
    pub fn stream(self) -> Result<EventStream, CrawlError> {
        let stop = self.stop.clone();
        let (events, receiver) = VisitEvents::new();
        Ok(EventStream::new(Box::pin(self.running(events)?.run()), receiver, stop))
    }

    /// Runs the crawl, and gives events to a function, so many at a time.
    async fn give_out<W: Future<Output = ()>>(
        self,
        at_once: usize,
        give: impl FnMut(Handed) -> W,
    ) -> Result<Summary, CrawlError> {
        let (events, receiver) = VisitEvents::new();
        let running = self.running(events)?;
        let (crawling, mut giving) = (pin!(running.run()), pin!(give_out(receiver, at_once.max(1), give)));
        let summary = tokio::select! {
            biased;
            summary = crawling => summary?,
            () = &mut giving => unreachable!("events come to their end when the crawl has ended"),
        };
        // Failures that nobody was given yet: no visit waits for them.
        if summary.end == super::End::Stopped {
            drop(timeout(LAST_EVENTS, giving).await);
        } else {
            giving.await;
        }
        Ok(summary)
    }

    fn running(self, events: VisitEvents) -> Result<CrawlRun<F>, CommandFailure> {
        let (dir, temporary) = self.place()?;
        let (stop, logged_in) = (self.stop.signal(), self.login.is_some());
        let session = self.session(&dir, events)?;
        Ok(CrawlRun { session, stop, dir, logged_in, _temporary: temporary })
    }

    /// Where the crawl is kept; a temporary directory is removed with its owner.
    fn place(&self) -> Result<(PathBuf, Option<TempDir>), CommandFailure> {
        if let Some(dir) = &self.dir {
            return Ok((dir.clone(), None));
        }
        let folder = tempfile::Builder::new().prefix("webloom-").tempdir();
        let folder = folder.map_err(CommandFailure::system("cannot make a temporary directory"))?;
        Ok((folder.path().join("crawl"), Some(folder)))
    }

    fn session(self, dir: &Path, events: VisitEvents) -> Result<Session<Runner<F>>, CommandFailure> {
        let starts: Vec<Start> = self.starts.iter().map(|start| starts::read_one(start)).collect::<Result<_, _>>()?;
        let auth = self.login.as_ref().map(|(user, password)| {
            let wrong = || CommandFailure::Usage("login: the user name must not be empty or have a colon".to_owned());
            Credentials::typed(&format!("{user}:{password}")).filter(|_| !user.contains(':')).ok_or_else(wrong)
        });
        // Which sequence is run.
        let goes_on = !self.again || !CrawlDirectory::exists(dir);
        Ok(Session {
            dir: dir.to_owned(),
            starts: Arc::new(starts),
            added: Vec::new(),
            round: if goes_on { Round::GoOn } else { Round::Next(Revisit::KnownFirst) },
            retry: None,
            layers: self.layers(),
            announced: false,
            watched: false,
            until: None,
            auth: auth.transpose()?,
            lock: None,
            caller: Runner {
                fetcher: self.fetcher,
                events,
                filter: self.filter,
                progress: self.progress,
                gate: Arc::default(),
            },
        })
    }
}

impl<F: Fetcher + 'static> CrawlRun<F> {
    /// Runs it to its end.
    async fn run(self) -> Result<Summary, CrawlError> {
        let Self { session, stop, dir, logged_in, _temporary } = self;
        let (dir, end) = match session.sequences(Clock::start(), stop).await {
            Ok(ended) => (ended.lock.directory().map_err(CommandFailure::from)?, ended.end),
            // It is as it was.
            Err(CommandFailure::Interrupted(signal)) if CrawlDirectory::exists(&dir) => (dir, RunEnd::Signal(signal)),
            Err(failure) => return Err(failure.into()),
        };
        Ok(Summary::read(&dir, end, logged_in)?)
    }
}

/// Gives events out as they come, so many at a time, until there is none any more.
async fn give_out<W: Future<Output = ()>>(
    mut events: mpsc::Receiver<Handed>,
    at_once: usize,
    mut give: impl FnMut(Handed) -> W,
) {
    let mut given = FuturesUnordered::new();
    let mut more = true;
    while more || !given.is_empty() {
        tokio::select! {
            handed = events.recv(), if more && given.len() < at_once => match handed {
                Some(handed) if is_given_up(&handed) => {}
                Some(handed) => given.push(give(handed)),
                None => more = false,
            },
            Some(()) = given.next(), if !given.is_empty() => {}
        }
    }
}
