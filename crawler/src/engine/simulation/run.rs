//! [`Crawl`]: runs of a crawl on a virtual clock, with kills between them.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::sync::Semaphore;

use super::{
    super::{
        core::{Core, Effect, End, Event, Memo, Question, Setup, Start, StoreAnswer, Then},
        shell::Replaying,
        visit::{Job, Judging, Report, Visitor},
    },
    Random, Web,
    fetcher::{Moments, WebFetcher},
};
use crate::{
    config::{Layers, Settings},
    extract::{LinkLimits, ReferenceSeed},
    frontier::Lease,
    queue::Purpose,
    robots::ProductToken,
    store::{
        AreaRow, AreaSource, Message, Reply, SequenceEnd,
        sqlite::{CrawlDirectory, Errs, NewCrawl, Records, RunStart, WriterSettings, WriterThread},
    },
    time::Moment,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// The moment at which a simulation begins, in milliseconds.
const BEGIN: u64 = 1_700_000_000_000;

/// Turns and events after which a crawl is called endless.
const MOST_TURNS: u64 = 400_000;

/// Runs after which it is.
const MOST_RUNS: u64 = 120;

/// A request as the servers saw it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) run: u64,
    pub(super) host: String,
    pub(super) url: String,
    pub(super) purpose: Purpose,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A crawl of a web, over as many runs as it takes.
pub(super) struct Crawl {
    pub(super) web: Web,
    pub(super) requests: Vec<Request>,
    pub(super) folder: tempfile::TempDir,
    pub(super) settings: Arc<Settings>,
    pub(super) end: Option<End>,
    random: Random,
    now: u64,
    moments: Arc<Mutex<Moments>>,
    runs: u64,
    /// Kills and signals that are still to come.
    interruptions: u64,
    /// Runs that were killed: what they had not committed is unknown to the next.
    pub(super) killed: HashSet<u64>,
}

/// How a run is to end, if not by itself.
#[derive(Debug, Clone, Copy)]
enum Interruption {
    Kill(u64),
    Signal(u64),
}

enum Happening {
    Visited(Box<Report>),
    Answered(StoreAnswer),
    Writer,
}

/// One process.
struct Run<'a> {
    crawl: &'a mut Crawl,
    core: Core,
    writer: WriterThread,
    visitor: Visitor<WebFetcher>,
    messages: VecDeque<Message>,
    answers: Arc<Mutex<Vec<StoreAnswer>>>,
    /// What will happen, by time and number.
    agenda: BTreeMap<(u64, u64), Happening>,
    number: u64,
    last_answer: u64,
    sequence: u32,
}

impl Crawl {
    pub(super) fn new(web: Web, mut random: Random) -> Self {
        let shared = std::path::Path::new("/dev/shm");
        let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        let settings = settings(&mut random);
        let moments = Arc::new(Mutex::new(Moments::new(web.clone())));
        let (interruptions, requests, folder) = (random.below(4), Vec::new(), folder.unwrap());
        Self {
            web,
            requests,
            folder,
            settings,
            end: None,
            random,
            now: 0,
            moments,
            runs: 0,
            interruptions,
            killed: HashSet::new(),
        }
    }

    /// Starts it again and again, as a user would, until it is drained.
    pub(super) fn go_on_to_the_end(&mut self) -> Result<(), String> {
        loop {
            self.runs += 1;
            let end = self.run()?;
            self.end = end;
            match end {
                Some(End::Drained) if !self.was_abandoned() => return Ok(()),
                Some(End::Drained) => self.now += 1_000 + self.random.below(60_000),
                Some(End::Signal(_)) | None => {
                    if end.is_none() {
                        self.killed.insert(self.runs);
                    }
                    let most = self.random.pick(&[10, 500, 60_000]);
                    self.now += 1 + self.random.below(most);
                }
                // A start that answers with 500 for long may as well be broken: nothing else of its host is known.
                Some(End::Failed) if self.web.may_lose_a_start() => return Ok(()),
                Some(End::Unreachable | End::Failed) => self.now += 1_000 + self.random.below(600_000),
                Some(other) => return Err(format!("ended with {other:?}")),
            }
            if self.runs > MOST_RUNS {
                return Err(format!("too many runs, the last ended {:?} at {}", self.end, self.now));
            }
        }
    }

    /// Whether the next start has something to try again.
    fn was_abandoned(&self) -> bool {
        let records = Records::open(self.folder.path()).unwrap();
        let connection = records.connection();
        let query = "SELECT EXISTS (SELECT 1 FROM url WHERE reason = 'no_name' AND state = 'abandoned')";
        connection.query_row(query, [], |row| row.get(0)).unwrap()
    }

    fn moment(&self) -> Moment {
        Moment::from_millis(BEGIN + self.now)
    }

    /// One process, from its start to its end; `None` when it was killed.
    fn run(&mut self) -> Result<Option<End>, String> {
        let interruption = (self.interruptions > 0 && self.random.percent(70)).then(|| {
            self.interruptions -= 1;
            let at = self.now + self.random.below(90_000);
            if self.random.percent(60) { Interruption::Kill(at) } else { Interruption::Signal(at) }
        });
        let mut directory = CrawlDirectory::open(self.folder.path()).map_err(|error| error.to_string())?;
        let starts: Vec<WebUrl> = self.web.starts().iter().map(|url| WebUrl::parse(url).unwrap()).collect();
        if directory.settings().unwrap().is_none() {
            let area = |url: &WebUrl| AreaRow { url: url.as_str().to_owned(), source: AreaSource::Start };
            let crawl = NewCrawl {
                at: self.moment(),
                fingerprint_seed: FingerprintSeed::new(self.random.next()),
                key_rules: Canonicalizer::default(),
                hash_seed: self.random.next(),
                settings: "{}".into(),
                areas: starts.iter().map(area).collect(),
            };
            directory.create(&crawl, None).unwrap();
        }
        let seed = directory.fingerprint_seed().unwrap().unwrap();
        let print = |url: &WebUrl| seed.fingerprint(&Canonicalizer::default().key(url));
        let admitted = directory.admitted(&starts.iter().map(print).collect::<HashSet<_>>()).unwrap();
        let new = starts.into_iter().filter(|url| !admitted.contains(&print(url)));
        let new = new.map(|url| Start { url, guessed: false, credentials: None }).collect();
        directory.retry_abandoned().unwrap();
        let resumed = directory.resume(None).unwrap().unwrap();
        let (sequence, counters) = (resumed.sequence, resumed.counters.clone());
        let now = self.moment();
        let setup = Setup { resumed, settings: Arc::clone(&self.settings), started: now, now };
        let core = setup.core(ProductToken::new("webloom").unwrap()).map_err(|error| error.to_string())?;
        let cache = if core.is_exact() { Errs::Never } else { Errs::Sometimes };
        directory.begin_run(RunStart { cache, audit_sample: Some(1_000), forgets: core.forgets() }).unwrap();
        let commit_steps = usize::try_from(1 + self.random.below(20)).unwrap();
        let commit_every = Duration::from_mins(1);
        let settings = WriterSettings {
            commit_every,
            commit_steps,
            checkpoint_every: commit_every,
            sequence,
            counters,
            fail_point: None,
        };
        let mut writer = WriterThread::new(directory, settings);
        writer.begin_run().unwrap();
        let visitor = visitor(WebFetcher(Arc::clone(&self.moments)));
        let (messages, answers, agenda) = Default::default();
        let run =
            Run { crawl: self, core, writer, visitor, messages, answers, agenda, number: 0, last_answer: 0, sequence };
        run.drive(new, interruption)
    }
}

impl Run<'_> {
    fn drive(mut self, starts: Vec<Start>, interruption: Option<Interruption>) -> Result<Option<End>, String> {
        let mut signalled = false;
        let (kill, signal) = match interruption {
            Some(Interruption::Kill(at)) => (Some(at), None),
            Some(Interruption::Signal(at)) => (None, Some(at)),
            None => (None, None),
        };
        self.tell(Event::Begin(starts))?;
        for _ in 0..MOST_TURNS {
            let until = match self.tell(Event::Turn)? {
                Then::End(end) => return self.close(end).map(Some),
                Then::Turn => continue,
                Then::Wait(until) => until.map(|moment| moment.millis().saturating_sub(BEGIN)),
            };
            let next = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let signal = signal.filter(|_| !signalled);
            let Some(at) = [until, next, signal, kill].into_iter().flatten().min() else {
                return Err(format!("waits for nothing at {}", self.crawl.now));
            };
            self.crawl.now = self.crawl.now.max(at);
            if kill.is_some_and(|kill| self.crawl.now >= kill) {
                // What is not committed is gone, and requests in flight with it.
                return Ok(None);
            }
            if signal.is_some_and(|signal| self.crawl.now >= signal) {
                signalled = true;
                self.tell(Event::Stop(15))?;
                continue;
            }
            if next.is_some_and(|next| next <= self.crawl.now) {
                let (_, happening) = self.agenda.pop_first().expect("there is a next");
                self.happen(happening)?;
            }
        }
        Err("it does not end".into())
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Visited(report) => self.tell(Event::Visited(report)).map(drop),
            Happening::Answered(answer) => self.tell(Event::Answered(answer)).map(drop),
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
        self.writer.apply(message).map_err(|_| "the writer failed".to_owned())?;
        let answers: Vec<_> = self.answers.lock().unwrap().drain(..).collect();
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
                    let reply = self.reply(StoreAnswer::Confirmed);
                    self.send(Message::Propose(step, Box::new(()), reply));
                }
                Effect::Ask(question) => {
                    let message = self.asking(question);
                    self.send(message);
                }
            }
        }
        Ok(then)
    }

    fn asking(&self, question: Question) -> Message {
        match question {
            Question::Rows(request) => {
                Message::Refill(request, self.reply(move |rows| StoreAnswer::Rows(request.host, rows)))
            }
            Question::Robots(host) => Message::Robots(host, self.reply(move |body| StoreAnswer::Robots(host, body))),
            Question::Sweep(request) => Message::Sweep(request, self.reply(StoreAnswer::Swept)),
            Question::Fill(filling) => {
                Message::Replay(Box::new(Replaying { filling, reply: self.reply(StoreAnswer::Filled) }))
            }
        }
    }

    fn reply<T: 'static>(&self, answer: impl FnOnce(T) -> StoreAnswer + Send + 'static) -> Reply<T> {
        let answers = Arc::clone(&self.answers);
        Box::new(move |read| answers.lock().unwrap().push(answer(read)))
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
        let hung = self.crawl.moments.lock().unwrap().hung;
        let took = if hung { 30_000 } else { 1 + self.crawl.random.below(60) };
        let (host, url) = (lease.url().host().to_owned(), lease.url().as_str().to_owned());
        let (run, purpose) = (self.crawl.runs, lease.purpose());
        self.crawl.requests.push(Request { run, host, url, purpose, from, to: from + took });
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
        };
        self.apply(Message::End(Box::new(ended)))?;
        self.writer.commit().map_err(|error| error.to_string())?;
        if end == End::Drained && self.sequence > 0 { Err("another sequence began".into()) } else { Ok(end) }
    }
}

fn visitor(fetcher: WebFetcher) -> Visitor<WebFetcher> {
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
    }
}

/// Settings that the seed chooses: caches that err and forget, few heads, slots, delays.
fn settings(random: &mut Random) -> Arc<Settings> {
    let cache = random.pick(&[
        "strategy = \"single\"",
        "strategy = \"exact\"",
        "strategy = \"single\"\nexpected_urls = 20",
        "strategy = \"single\"\nexpected_urls = 20\nreset = \"rotate\"",
        "strategy = \"single\"\nmax_lost_urls = 20\nexpected_urls = 20",
        "strategy = \"multilayer\"",
    ]);
    let (delay, per_host) = (random.pick(&["0s", "100ms", "1s"]), random.pick(&[1, 1, 3]));
    let heads = random.pick(&[10, 1_000]);
    let depth = random.pick(&["\"unlimited\"", "\"unlimited\"", "1000"]);
    let order = random.pick(&["breadth", "breadth", "depth"]);
    let text = format!(
        "[cache]\n{cache}\n[politeness]\ndelay = \"{delay}\"\nper_host = {per_host}\n[frontier]\nheads_per_host = {heads}\n\
         order = \"{order}\"\n[budget]\nmax_depth = {depth}"
    );
    Arc::new(Layers::new().file_text("seed", &text).resolve().unwrap().settings)
}
