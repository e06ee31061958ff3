//! The commands of the `webloom` program, one file each.
//!
//! Owns: arguments, the order of what a command does, what it prints and its exit code.
//!
//! Exit codes: 0 drained or budget reached; 1 failed, also when no start URL could be fetched and when `check` finds something; 2 what is
//! decided before the first request; 3 stopped by the loss policy; 4 nothing is left but hosts that do not answer; 130 or 143 stopped by a signal.
//!
//! Does not know: how pages are fetched or kept.

mod among;
mod backup;
mod changes;
mod check;
mod completions;
mod config_command;
mod crawl;
mod demo;
mod diff;
mod dry_run;
mod explain;
mod export;
pub mod flags;
mod forget;
mod get;
mod healthcheck;
mod help;
mod jobs;
mod links;
mod listing;
mod manual;
mod outcome;
mod pages;
mod plan;
mod retry;
mod search;
mod serve;
mod session;
mod signals;
mod simulate;
mod sitemap;
mod status;
mod watch;
mod why;

use std::{borrow::Cow, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    observe::{escape, summary},
    session::{access, directory, no_start, open_files, starts},
};

pub use crate::session::CommandFailure;

/// Lines on stderr at most, under `-q`, when a command is refused.
const MOST_LINES: usize = 8;

/// Crawls whole web sites politely, and checks that no page is missing
#[derive(Debug, Parser)]
#[command(name = "webloom", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Crawl a site, resume a crawl, or crawl the site again
    Crawl(Box<crawl::CrawlArgs>),
    /// Crawl one or many sites again and again, on a schedule
    Watch(Box<watch::WatchArgs>),
    /// Say what a crawl of a site would take
    ///
    /// Webloom reads the robots.txt, the sitemaps and the start page, and estimates pages, time and disk space.
    Plan(Box<plan::PlanArgs>),
    /// Take a ten-second tour on a practice site on this machine
    Demo(demo::DemoArgs),
    /// Show the summary of a crawl
    Status(status::StatusArgs),
    /// List the URLs of a crawl
    ///
    /// Each line is one URL in its latest state.
    Pages(pages::PagesArgs),
    /// List broken links, redirects, external links and referrers
    ///
    /// Each line is one link, with the page that has it.
    Links(links::LinksArgs),
    /// Compare the sitemaps of a crawl with its pages
    ///
    /// Each line is one URL that a sitemap lists, or a page that is linked and that no sitemap lists, with what does not fit
    /// together.
    Sitemap(sitemap::SitemapArgs),
    /// Say why a URL is in a crawl, or is not
    ///
    /// The answer says what came of the URL or what keeps it out, which pages lead to it, and what to do next.
    Why(why::WhyArgs),
    /// Ask once more for URLs that were broken, failed or were abandoned
    ///
    /// Webloom asks for them in the same crawl sequence, and follows the links of the pages that are there now.
    Retry(Box<retry::RetryArgs>),
    /// List what has changed on the pages, with diffs
    ///
    /// Each line is one change; Webloom reports each change once.
    Changes(changes::ChangesArgs),
    /// Print a page as it was archived
    ///
    /// It takes a crawl with `--archive`. The exit code is 1 if there is no copy.
    Get(get::GetArgs),
    /// Write the archived pages as Markdown, JSON, WARC or a mirror
    ///
    /// It takes a crawl with `--archive`. Pages are written without their navigation.
    Export(export::ExportArgs),
    /// Remove URLs with all that is kept of them
    ///
    /// Their rows, texts and archived answers are removed from all files of the crawl directory. On a terminal, Webloom asks before.
    Forget(forget::ForgetArgs),
    /// Search the texts of the pages
    ///
    /// It takes a crawl with an archive, or with `search.index` on. The best pages come first.
    Search(search::SearchArgs),
    /// Show the archived pages in a browser, with search and a JSON API
    ///
    /// Archived scripts run without access to anything else.
    Serve(serve::ServeArgs),
    /// Give assistants tools to search and read the pages (MCP)
    ///
    /// It speaks the Model Context Protocol on stdin and stdout, with the tools search, get, changes and status.
    Mcp(serve::McpArgs),
    /// Compare two crawls by path
    ///
    /// Each line is one path that only one of them has, or where their pages, texts or redirects differ.
    Diff(diff::DiffArgs),
    /// Copy the database of a crawl, also while the crawl runs
    ///
    /// The copy is whole and of one moment. Put it into an empty folder as webloom.sqlite, and the crawl goes on from there.
    Backup(backup::BackupArgs),
    /// Say whether watched crawls are on time
    ///
    /// The exit code is 1 if a sequence is more than two intervals late, has been running for more than two intervals, or cannot
    /// be run.
    Healthcheck(healthcheck::HealthcheckArgs),
    /// Recount a crawl and report what does not fit together
    ///
    /// The exit code is 1 if there is a finding.
    Check(check::CheckArgs),
    /// Show how fresh a revisit policy would have kept a site
    ///
    /// Webloom replays a record of when the pages of a site changed. It learns from the first half and measures in the
    /// second.
    Simulate(simulate::SimulateArgs),
    /// Print all settings, or those in effect
    #[command(subcommand)]
    Config(config_command::ConfigCommand),
    /// Show how Webloom reads a URL, a robots.txt or a page
    ///
    /// JSON lines in, JSON lines out.
    #[command(subcommand)]
    Explain(explain::ExplainCommand),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Write manual pages of the program and of each command
    Man(manual::ManArgs),
}

/// Runs the command that the program's arguments ask for; on failure says why on stderr.
pub fn start() -> ExitCode {
    let parsed = program().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = parsed.unwrap_or_else(|error| refuse(&error));
    let quiet = cli.command.is_quiet();
    run(cli).unwrap_or_else(|failure| {
        let why = format!("error: {failure}");
        outcome::tell(&if quiet { shortened(&why) } else { why });
        failure.exit_code()
    })
}

/// All arguments, with their help.
fn program() -> clap::Command {
    help::command(Cli::command().version(version()))
}

/// The version, with the commit where the build was given it.
fn version() -> &'static str {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("WEBLOOM_COMMIT").filter(|commit| !commit.is_empty());
    // It is asked for once.
    commit.map_or(version, |commit| format!("{version} ({commit})").leak())
}

/// Help, or what is wrong with the arguments: these are repeated, and may be anybody's.
fn refuse(error: &clap::Error) -> ! {
    let plain = error.to_string();
    if let Cow::Owned(shown) = escape::lines(&plain) {
        outcome::tell(shown.trim_end());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Of many lines the first, and how many more there are.
fn shortened(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    if lines.len() <= MOST_LINES {
        return text.to_owned();
    }
    let (shown, more) = lines.split_at(MOST_LINES - 1);
    format!("{}\nand {} more", shown.join("\n"), more.len())
}

fn run(cli: Cli) -> Result<ExitCode, CommandFailure> {
    match cli.command {
        Command::Crawl(args) => crawl::run(*args),
        Command::Watch(args) => watch::run(*args),
        Command::Plan(args) => plan::run(*args),
        Command::Demo(args) => demo::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Pages(args) => pages::run(&args),
        Command::Links(args) => links::run(&args),
        Command::Sitemap(args) => sitemap::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Retry(args) => retry::run(*args),
        Command::Changes(args) => changes::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Forget(args) => forget::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Mcp(args) => serve::speak(&args),
        Command::Search(args) => search::run(&args),
        Command::Healthcheck(args) => healthcheck::run(args),
        Command::Check(args) => check::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Config(command) => config_command::run(command),
        Command::Explain(command) => explain::run(&command),
        Command::Completions(args) => completions::run(&args, program()),
        Command::Man(args) => manual::run(&args, program()),
    }
}

impl Command {
    fn is_quiet(&self) -> bool {
        match self {
            Self::Crawl(args) => args.is_quiet(),
            Self::Watch(args) => args.is_quiet(),
            Self::Plan(args) => args.is_quiet(),
            Self::Retry(args) => args.is_quiet(),
            Self::Demo(args) => args.is_quiet(),
            _ => false,
        }
    }
}
