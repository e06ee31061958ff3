//! `webloom crawl`.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, ValueEnum};

use super::{
    Failure, access,
    among::Among,
    flags::{CrawlFlags, OutputFlags},
    session::{self, Program, Round, Session, Shown},
    starts,
};
use crate::{engine::Start, store::Revisit};

/// Arguments of `crawl`.
#[derive(Debug, Args)]
pub(super) struct CrawlArgs {
    /// Start URL, a host (https is tried, then http), or @FILE with one of them a line; - reads such a list from stdin
    #[arg(value_name = "START")]
    starts: Vec<String>,
    /// Crawl directory, made when it is not there [default: ./crawls/HOST of the first start]
    #[arg(short, long)]
    dir: Option<PathBuf>,
    /// Add a start URL to the crawl, whatever the directory holds; may be given several times, and as @FILE or - like a start
    #[arg(long, value_name = "URL")]
    add: Vec<String>,
    /// Crawl it again: begin the next crawl sequence, in which every known URL is asked for once more
    #[arg(long)]
    again: bool,
    /// How the next sequence finds its pages. known-first: every known URL is asked for, and only what has changed is sent,
    /// if the server can tell; links lead to new ones. rediscover: by links from the starts, as if nothing were known
    /// [default: known-first]
    #[arg(long, value_enum, value_name = "HOW", requires = "again")]
    revisit: Option<RevisitChoice>,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl CrawlArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }
}

/// How a further sequence finds its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RevisitChoice {
    KnownFirst,
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

pub(super) fn run(args: CrawlArgs) -> Result<ExitCode, Failure> {
    starts::check_stdin(args.starts.iter().chain(&args.add))?;
    let (starts, added) = (starts::read(&args.starts)?, starts::read(&args.add)?);
    let dir = match args.dir {
        Some(dir) => dir,
        None => default_dir(starts.first().or(added.first()))?,
    };
    let auth = access::auth(args.flags.auth())?;
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    let revisit = args.revisit.map_or(Revisit::KnownFirst, RevisitChoice::revisit);
    let round = if args.again { Round::Next(revisit) } else { Round::GoOn };
    let session = Session {
        dir,
        starts: starts.into(),
        added,
        round,
        layers,
        told: false,
        until: None,
        auth,
        lock: None,
        watched: false,
        caller: Program { output: args.output, shown: Shown::Last, next: true, among: Among::default() },
    };
    session.run()
}

/// A new folder directly below `crawls`, whatever the host is called.
pub(super) fn default_dir(first: Option<&Start>) -> Result<PathBuf, Failure> {
    let first =
        first.ok_or_else(|| Failure::Usage("give a start URL, or --dir with a crawl to go on with".to_owned()))?;
    let name = first.url.authority().replace(':', "_");
    let mut parts = Path::new(&name).components();
    let one = parts.next() == Some(Component::Normal(OsStr::new(&name))) && parts.next().is_none();
    if !one || name.chars().all(|c| c == '.') || name.contains(['\\', '%']) {
        let start = first.url.as_str();
        return Err(Failure::Usage(format!("{start}: no crawl directory can be named after its host; give --dir")));
    }
    Ok(Path::new("crawls").join(name))
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
