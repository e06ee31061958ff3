//! `webloom crawl`.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, ValueEnum};

use super::{
    CommandFailure, access,
    directory::CRAWLS,
    dry_run,
    flags::{CrawlFlags, ListenFlags, OutputFlags},
    session::{self, ProgramSession, Round},
    starts,
};
use crate::{monitor, session::Start, store::Revisit};

/// Arguments of `crawl`.
#[derive(Debug, Args)]
pub(super) struct CrawlArgs {
    /// Start URL, @FILE with a list, or - for stdin
    ///
    /// Without a scheme, Webloom tries https first, then http. A list has one URL a line; `#` begins a comment. Without
    /// a start URL, the command resumes the crawl in --dir.
    #[arg(value_name = "START")]
    starts: Vec<String>,
    /// Crawl directory [default: ./crawls/HOST]
    ///
    /// It is made if it does not exist. HOST is the host of the first start URL.
    #[arg(short, long)]
    dir: Option<PathBuf>,
    /// Add a start URL to the crawl; may be repeated
    ///
    /// Takes @FILE and - like START.
    #[arg(long, value_name = "URL")]
    add: Vec<String>,
    /// Crawl the site again, as the next sequence
    ///
    /// Webloom asks for every known URL once more and follows new links. A sequence that was stopped or killed is resumed
    /// first.
    #[arg(long)]
    again: bool,
    /// How the next sequence finds its pages [default: known-first]
    #[arg(long, value_enum, value_name = "known-first|rediscover", requires = "again")]
    revisit: Option<RevisitChoice>,
    /// Say what would be done, and do nothing
    ///
    /// Settings, start URLs and the crawl directory are checked. No request is sent, and nothing is written.
    #[arg(long, conflicts_with = "json")]
    dry_run: bool,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    listen: ListenFlags,
}

impl CrawlArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }
}

/// How a further sequence finds its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RevisitChoice {
    /// Ask for every known URL, and follow links to new ones; only what has changed is sent, if the server can tell.
    KnownFirst,
    /// Follow links from the start URLs, as if nothing were known.
    Rediscover,
}

impl RevisitChoice {
    /// What was chosen.
    pub(super) fn revisit(self) -> Revisit {
        match self {
            Self::KnownFirst => Revisit::KnownFirst,
            Self::Rediscover => Revisit::Rediscover,
        }
    }
}

pub(super) fn run(args: CrawlArgs) -> Result<ExitCode, CommandFailure> {
    starts::check_stdin(args.starts.iter().chain(&args.add))?;
    let (starts, added) = (starts::read(&args.starts)?, starts::read(&args.add)?);
    let dir = crawl_dir(args.dir.as_deref(), starts.first().or(added.first()))?;
    let auth = access::auth(args.flags.auth())?;
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    session::refuse_mixed(&args.output, &layers)?;
    let revisit = args.revisit.map_or(Revisit::KnownFirst, RevisitChoice::revisit);
    let round = if args.again { Round::Next(revisit) } else { Round::GoOn };
    let crawl = ProgramSession::of(dir, layers, args.output);
    let mut session = ProgramSession { starts: Arc::new(starts), added, round, auth, ..crawl };
    if args.dry_run {
        return dry_run::run(&session);
    }
    session.caller.among.seat = monitor::listen(args.listen.listen.as_deref())?.seat().at(&session.dir);
    session.run()
}

/// The crawl directory that is meant. A number is more likely a depth, unless there is a directory of this name.
pub(super) fn crawl_dir(given: Option<&Path>, first: Option<&Start>) -> Result<PathBuf, CommandFailure> {
    let Some(dir) = given else { return default_dir(first) };
    match dir.to_str().filter(|text| text.parse::<u32>().is_ok() && !dir.exists()) {
        None => Ok(dir.to_owned()),
        Some(number) => Err(CommandFailure::Usage(format!(
            "-d {number} is a crawl directory, and there is none of this name: give --max-depth {number} to limit the depth, or \
             -d ./{number} to make the directory"
        ))),
    }
}

/// A new folder directly below `crawls`, whatever the host is called.
fn default_dir(first: Option<&Start>) -> Result<PathBuf, CommandFailure> {
    let first =
        first.ok_or_else(|| CommandFailure::Usage("give a start URL, or --dir with a crawl to resume".to_owned()))?;
    let name = first.url.authority().replace(':', "_");
    let mut parts = Path::new(&name).components();
    let one = parts.next() == Some(Component::Normal(OsStr::new(&name))) && parts.next().is_none();
    if !one || name.chars().all(|c| c == '.') || name.contains(['\\', '%']) {
        let start = first.url.as_str();
        return Err(CommandFailure::Usage(format!(
            "{start}: a crawl directory cannot have the name of its host; give --dir"
        )));
    }
    Ok(Path::new(CRAWLS).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::WebUrl;

    fn dir(url: &str) -> Option<String> {
        let start = Start { url: WebUrl::parse(url).unwrap(), guessed: false, credentials: None };
        default_dir(Some(&start)).ok().map(|dir| dir.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_default_directory_is_one_folder_below_crawls() {
        for (url, expected) in [
            ("http://h/a/b", "crawls/h"),
            ("http://user:p@h.example:81/", "crawls/h.example_81"),
            ("http://[::1]:8080/", "crawls/[__1]_8080"),
            ("http://h../", "crawls/h.."),
            ("http://.h/", "crawls/.h"),
        ] {
            assert_eq!(dir(url).as_deref(), Some(expected), "{url}");
        }
        for url in ["http://./", "http://../", "http://.../x", "https://..:443/", "http://%2e%2e/"] {
            assert_eq!(dir(url), None, "{url}");
        }
    }
}
