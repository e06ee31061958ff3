//! [`Process`]: one run of a crawl on the virtual clock.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use tokio::sync::Semaphore;

use super::{
    super::{
        asking::{Answers, asking},
        core::{Core, Effect, End, Event, MOST_QUESTIONS, Memo, Question, Start, StoreAnswer, Then},
        visit::{Job, Judging, KeptResponse, Report, Visitor},
    },
    crawl::{BEGIN, Crawl, Request, What},
    fetcher::WebFetcher,
};
use crate::{
    config::{LinksChoice, Settings},
    extract::{LinkLimits, ReferenceSeed},
    fetch::{FetchError, Truncation},
    frontier::Lease,
    queue::Purpose,
    store::{Message, Reply, SequenceEnd, sqlite::Writer},
    time::Moment,
    url::Canonicalizer,
};

/// Turns and events after which a crawl is called endless.
const MOST_TURNS: usize = 100_000;

/// The same for each page of a large web.
const MOST_TURNS_A_PAGE: usize = 50;

/// How a run is to end, if not by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interruption {
    /// It is killed at a moment.
    Kill(u64),
    /// It is killed within some milliseconds of the first question of a kind.
    KillAt(Asked, u64),
    /// It is asked to end at a moment.
    Signal(u64),
}

/// A kind of question to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Rows,
    Sweep,
    Fill,
}

enum Happening {
    Visited(Box<Report>),
    Answered(StoreAnswer),
    Writer,
}

/// One process.
pub(super) struct Process<'a> {
    pub(super) crawl: &'a mut Crawl,
    pub(super) core: Core,
    pub(super) writer: Writer,
    visitor: Visitor<WebFetcher>,
    messages: VecDeque<Message>,
    answers: Waiting,
    open_questions: usize,
    /// What will happen, by time and number.
    agenda: BTreeMap<(u64, u64), Happening>,
    number: u64,
    last_answer: u64,
    kill: Option<u64>,
    signal: Option<u64>,
    kill_at: Option<(Asked, u64)>,
    /// When the machine is suspended, and for how long.
    suspend: Option<(u64, u64)>,
}

/// Answers that the writer has given, and the core has not heard yet.
#[derive(Default)]
struct Waiting(Arc<Mutex<Vec<StoreAnswer>>>);

impl Answers for Waiting {
    fn reply<T: 'static>(&self, answer: impl FnOnce(T) -> StoreAnswer + Send + 'static) -> Reply<T> {
        let answers = Arc::clone(&self.0);
        Box::new(move |read| answers.lock().unwrap().push(answer(read)))
    }
}

impl<'a> Process<'a> {
    pub(super) fn new(crawl: &'a mut Crawl, core: Core, writer: Writer, interruption: Option<Interruption>) -> Self {
        let visitor = visitor(WebFetcher(Arc::clone(&crawl.moments)), &crawl.settings);
        let mut kill = None;
        let mut signal = None;
        let mut kill_at = None;
        match interruption {
            Some(Interruption::Kill(at)) => kill = Some(at),
            Some(Interruption::Signal(at)) => signal = Some(at),
            Some(Interruption::KillAt(asked, pause)) => kill_at = Some((asked, pause)),
            None => {}
        }
        let (messages, answers, agenda) = Default::default();
        let suspend = crawl.suspended.take().map(|(pause, length)| (crawl.now + pause, length));
        Self {
            suspend,
            crawl,
            core,
            writer,
            visitor,
            messages,
            answers,
            open_questions: 0,
            agenda,
            number: 0,
            last_answer: 0,
            kill,
            signal,
            kill_at,
        }
    }

    /// Runs it to its end; `None` when it was killed.
    pub(super) fn drive(mut self, starts: Vec<Start>) -> Result<Option<End>, String> {
        self.tell(Event::Begin(starts))?;
        let pages: usize = self.crawl.web.hosts.values().map(|host| host.pages.len()).sum();
        for _ in 0..MOST_TURNS.max(pages * MOST_TURNS_A_PAGE) {
            let until = match self.tell(Event::Turn)? {
                Then::End(end) => return self.close(end).map(Some),
                Then::Turn => continue,
                Then::Wait(until) => until.map(Crawl::at),
            };
            let next = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let Some(at) = [until, next, self.signal, self.kill].into_iter().flatten().min() else {
                return Err(format!("waits for nothing at {}", self.crawl.now));
            };
            self.crawl.now = self.crawl.now.max(at);
            if let Some((_, length)) = self.suspend.take_if(|(begins, _)| self.crawl.now >= *begins) {
                // What was to happen meanwhile happens late.
                self.crawl.now += length;
            }
            let now = self.crawl.now;
            if self.kill.is_some_and(|kill| now >= kill) {
                // What is not committed is gone, and requests in flight with it.
                return Ok(None);
            }
            if self.signal.take_if(|signal| now >= *signal).is_some() {
                self.tell(Event::Stop(15))?;
                continue;
            }
            if next.is_some_and(|next| next <= now) {
                let (_, happening) = self.agenda.pop_first().expect("there is a next");
                self.happen(happening)?;
            }
        }
        Err("it does not end".into())
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Visited(report) => self.tell(Event::Visited(report)).map(drop),
            Happening::Answered(answer) => {
                self.open_questions -= 1;
                self.tell(Event::Answered(answer)).map(drop)
            }
            Happening::Writer => {
                let some = 1 + self.crawl.random.below(8);
                for _ in 0..some {
                    let Some(message) = self.messages.pop_front() else { break };
                    self.apply(message)?;
                }
                if !self.messages.is_empty() {
                    self.plan(1, Happening::Writer);
                } else if self.crawl.random.percent(30) {
                    self.writer.commit().map_err(|error| error.to_string())?;
                }
                Ok(())
            }
        }
    }

    fn apply(&mut self, message: Message) -> Result<(), String> {
        self.writer.apply(message).map_err(|fault| format!("the writer failed: {fault:?}"))?;
        let answers: Vec<_> = self.answers.0.lock().unwrap().drain(..).collect();
        for answer in answers {
            self.last_answer = self.last_answer.max(self.crawl.now + self.crawl.random.below(3));
            let at = self.last_answer;
            self.plan_at(at, Happening::Answered(answer));
        }
        Ok(())
    }

    fn tell(&mut self, event: Event) -> Result<Then, String> {
        let mut effects = Vec::new();
        let now = self.crawl.moment();
        let then = self.core.handle(event, now, &mut effects).map_err(|error| error.to_string())?;
        for effect in effects {
            match effect {
                Effect::Fetch(lease, judging) => self.fetch(*lease, judging),
                Effect::Write(step) => self.send(Message::Steps(vec![step], Box::new(()))),
                Effect::Propose(step) => {
                    self.open_questions += 1;
                    let reply = self.answers.reply(StoreAnswer::Confirmed);
                    self.send(Message::Propose(step, Box::new(()), reply));
                }
                Effect::Ask(question) => self.ask(question),
            }
        }
        // The URL cache is filled whatever else is asked.
        if self.open_questions > MOST_QUESTIONS + 1 {
            return Err(format!("{} questions at a time", self.open_questions));
        }
        self.core.stands().map_err(|problem| format!("{problem} at {}", self.crawl.now))?;
        Ok(then)
    }

    fn ask(&mut self, question: Question) {
        let asked = match &question {
            Question::Rows(_) => Some(Asked::Rows),
            Question::Sweep(_) => Some(Asked::Sweep),
            Question::Fill(_) => Some(Asked::Fill),
            Question::Robots(_) => None,
        };
        if let Some((_, pause)) = self.kill_at.take_if(|(kind, _)| asked == Some(*kind)) {
            self.kill = Some(self.crawl.now + pause);
        }
        self.open_questions += 1;
        let message = asking(question, &self.answers);
        self.send(message);
    }

    fn send(&mut self, message: Message) {
        if self.messages.is_empty() {
            let pause = self.crawl.random.below(5);
            self.plan(pause, Happening::Writer);
        }
        self.messages.push_back(message);
    }

    /// A request, and its answer at once; it comes back after as long as it would have taken.
    fn fetch(&mut self, lease: Lease, judging: Judging) {
        let from = self.crawl.now;
        self.crawl.moments.lock().unwrap().at = from;
        let visited = {
            let mut visit = std::pin::pin!(self.visitor.visit(Job::of(&lease), judging));
            match visit.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(visited) => visited,
                Poll::Pending => panic!("a simulated visit waits for nothing"),
            }
        };
        let took = self.crawl.moments.lock().unwrap().took;
        let took = took.unwrap_or_else(|| 1 + self.crawl.random.below(60));
        let (url, robots) = (lease.url().as_str().to_owned(), matches!(lease.purpose(), Purpose::Robots { .. }));
        let (origin, what) = (lease.url().origin().as_str().to_owned(), what(&visited.result, robots));
        let (pause, reach) = {
            let mut moments = self.crawl.moments.lock().unwrap();
            moments.ends(&origin, from + took);
            (moments.pause, moments.arrival)
        };
        tracing::debug!(url, purpose = ?lease.purpose(), from, took, ?what, "asked");
        self.crawl.requests.push(Request {
            run: self.crawl.runs,
            sequence: self.crawl.sequence,
            origin,
            url,
            purpose: lease.purpose(),
            from,
            to: from + took,
            what,
            reach,
            pause,
        });
        let report = Report { lease, requests: visited.requests, result: visited.result };
        self.plan(took, Happening::Visited(Box::new(report)));
    }

    fn plan(&mut self, pause: u64, happening: Happening) {
        self.plan_at(self.crawl.now + pause, happening);
    }

    fn plan_at(&mut self, at: u64, happening: Happening) {
        self.number += 1;
        self.agenda.insert((at, self.number), happening);
    }

    /// The last commit.
    fn close(mut self, end: End) -> Result<End, String> {
        while let Some(message) = self.messages.pop_front() {
            self.apply(message)?;
        }
        let ended = SequenceEnd {
            end: end.as_str(),
            at: self.crawl.moment(),
            seconds: 0.0,
            cpu_seconds: 0.0,
            peak_memory: None,
            cache: self.core.cache_figures().to_string(),
            tells: !matches!(end, End::Signal(_)),
        };
        self.apply(Message::End(Box::new(ended)))?;
        self.writer.commit().map_err(|error| error.to_string())?;
        Ok(end)
    }
}

/// What an answer is to a crawl that asks for it.
fn what(result: &Result<KeptResponse, FetchError>, robots: bool) -> What {
    match result {
        Err(FetchError::Internal) => What::Final,
        Err(_) => What::Trouble,
        Ok(answer) if matches!(answer.status, 429 | 500..) => What::Trouble,
        Ok(answer) if !robots && answer.truncated.is_some_and(Truncation::may_pass) => What::Cut,
        Ok(_) => What::Final,
    }
}

fn visitor(fetcher: WebFetcher, settings: &Settings) -> Visitor<WebFetcher> {
    let moments = Arc::clone(&fetcher.0);
    Visitor {
        fetcher,
        max_body: 1 << 20,
        max_url_length: 2_048,
        links: LinkLimits::of(10_000),
        link_room: Arc::new(Semaphore::new(10_000)),
        rules: Canonicalizer::default(),
        seed: ReferenceSeed::random(),
        memo: Arc::new(Mutex::new(Memo::new())),
        agent: Arc::from("webloom"),
        omitted: settings.keeps_texts().then(Arc::default),
        reader: None,
        labels: settings.store.links == LinksChoice::Full,
        now: Box::new(move || Moment::from_millis(BEGIN + moments.lock().unwrap().at)),
    }
}

impl Crawl {
    /// Milliseconds from the beginning.
    fn at(moment: Moment) -> u64 {
        moment.millis().saturating_sub(BEGIN)
    }
}
