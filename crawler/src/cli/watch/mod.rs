//! `webloom watch`: crawl sequences on a schedule, in one process.
//!
//! Owns: the arguments, and what signals ask of a watched crawl. The loop is in [`rounds`]; it runs any [`subject`] by any clock. The
//! subject for a real crawl is [`site`].
//!
//! Does not know: how a sequence is crawled, and how start times follow from a schedule.

pub(super) mod flags;
pub(super) mod plan;
pub(super) mod rounds;
pub(super) mod site;
pub(super) mod subject;

use std::{num::NonZeroU64, path::PathBuf, process::ExitCode};

use clap::Args;
use tokio::sync::mpsc;

use self::{
    flags::WatchFlags,
    rounds::{Outside, WatchOrder, no_timer},
    site::{Given, Site},
};
use super::{
    CommandFailure,
    among::Among,
    crawl::RevisitChoice,
    flags::ListenFlags,
    jobs, outcome, session,
    signals::{self, SignalOrder},
};
use crate::{
    clock::{SystemWall, WallTime},
    monitor,
    observe::logs,
    store::Revisit,
};

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// Start URL, @FILE with a list, or - for stdin
    ///
    /// Without a scheme, Webloom tries https first, then http. A list has one URL a line; `#` begins a comment. Without
    /// a start URL, the command goes on with the crawl in --dir.
    #[arg(value_name = "START", conflicts_with = "jobs")]
    starts: Vec<String>,
    /// Crawl directory [default: ./crawls/HOST]
    ///
    /// It is made if it does not exist. HOST is the host of the first start URL.
    #[arg(short, long, conflicts_with = "jobs")]
    dir: Option<PathBuf>,
    /// Add a start URL to the crawl; may be repeated
    ///
    /// Takes @FILE and - like START.
    #[arg(long, value_name = "URL", conflicts_with = "jobs")]
    add: Vec<String>,
    /// TOML file with several crawls to watch
    ///
    /// Each has its own directory, start URLs and schedule. Flags and environment variables hold for all of them.
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,
    /// How each sequence after the first finds its pages [default: known-first]
    #[arg(long, value_enum, value_name = "known-first|rediscover")]
    revisit: Option<RevisitChoice>,
    /// End after N sequences [default: never]
    ///
    /// A sequence that is resumed counts too. With --jobs, N holds for each crawl. The exit code is that of the last
    /// sequence.
    #[arg(long, value_name = "N", help_heading = "Schedule")]
    runs: Option<NonZeroU64>,
    #[command(flatten)]
    flags: WatchFlags,
    #[command(flatten)]
    listen: ListenFlags,
}

impl WatchArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.flags.output.quiet
    }

    fn given(&self) -> Given {
        Given {
            dir: self.dir.clone(),
            starts: self.starts.clone(),
            added: self.add.clone(),
            layers: self.flags.layers(None, None),
            auth: self.flags.crawl.auth().cloned(),
            output: self.flags.output.clone(),
            revisit: self.revisit(),
            most: self.runs,
        }
    }

    fn revisit(&self) -> Revisit {
        self.revisit.map_or(Revisit::KnownFirst, RevisitChoice::revisit)
    }
}

pub(super) fn run(args: WatchArgs) -> Result<ExitCode, CommandFailure> {
    if let Some(file) = &args.jobs {
        if args.flags.crawl.auth().is_some() {
            let why = "--auth and WEBLOOM_AUTH would apply to all jobs: set fetch.credentials for each job instead";
            return Err(CommandFailure::Usage(why.to_owned()));
        }
        let (revisit, most) = (args.revisit(), args.runs);
        let asked = jobs::AskedJobs { file: file.clone(), flags: args.flags, revisit, most };
        return jobs::run(asked, args.listen.listen.as_deref());
    }
    session::runtime()?.block_on(watch(args))
}

async fn watch(args: WatchArgs) -> Result<ExitCode, CommandFailure> {
    // Before anything is kept: a signal that comes in the meantime is heard.
    let stop = signals::stop_signal()?;
    let asked = signals::asked()?;
    let time = SystemWall::new().map_err(no_timer())?;
    let given = args.given();
    let color = given.output.color.color();
    let among = Among { seat: monitor::listen(args.listen.listen.as_deref())?.seat(), ..Among::default() };
    let mut rounds = Site::open(given, &among, time.now())?;
    logs::start(&rounds.subject.log_settings()?, color);
    let mut outside = Outside { stop, orders: orders(asked, args), time };
    Ok(outcome::exit_code(rounds.run(&mut outside).await?))
}

/// What signals ask for, with settings as they are when it is asked.
fn orders(mut asked: mpsc::Receiver<SignalOrder>, args: WatchArgs) -> mpsc::Receiver<WatchOrder<Given>> {
    let (sender, receiver) = mpsc::channel(signals::MOST_ASKED);
    tokio::spawn(async move {
        while let Some(asked) = asked.recv().await {
            let order = match asked {
                SignalOrder::ReadAgain => WatchOrder::Settings(Box::new(args.given())),
                SignalOrder::Begin => WatchOrder::Begin,
            };
            if sender.send(order).await.is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests;
