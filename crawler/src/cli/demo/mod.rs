//! `webloom demo`: a tour of five chapters on a practice site, each with the commands that it runs.
//!
//! Owns: the order of the chapters, the exit code, and what is left when the tour ends.
//!
//! Invariants: every command shown was run as a process of this program; every statement was checked against the
//! practice site, which knows the truth; if one does not hold, the demo ends with exit code 1.
//!
//! Does not know: how a crawl is set up or what its output looks like.

mod chapter;
mod chapters;
mod folder;
mod screen;
mod tour;

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use serde_json::{Value, json};
use webloom_practice::{PracticeServer, PracticeSite, Shape};

use self::{chapters::Story, folder::Folder, screen::Screen, tour::Tour};
use super::{CommandFailure, directory, flags::OutputFlags, outcome, session, signals, summary};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Folder for the crawls, which is kept [default: a temporary one]
    ///
    /// The folder must be new. With --serve, it may be the folder of an earlier demo. A temporary folder is removed at
    /// the end, unless you give --keep.
    #[arg(short, long)]
    dir: Option<PathBuf>,
    /// Keep the folder with all crawls
    ///
    /// Later, `webloom demo --serve --dir DIR` serves the same site from this folder, at the same address.
    #[arg(long)]
    keep: bool,
    /// Serve the practice site after the tour, until Ctrl-C
    ///
    /// So you can repeat the commands of the tour. With the --dir of an earlier demo, the site is served without
    /// another tour.
    #[arg(long)]
    serve: bool,
    #[command(flatten)]
    output: OutputFlags,
}

impl DemoArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }
}

/// What a demo has come to.
struct Shown {
    /// Whether every statement holds.
    holds: bool,
    /// What is to be served until somebody asks for the end.
    server: Option<PracticeServer>,
}

pub(super) fn run(args: &DemoArgs) -> Result<ExitCode, CommandFailure> {
    let folder = Folder::prepare(args.dir.as_deref(), args.keep, args.serve)?;
    let runtime = session::runtime()?;
    let ended = runtime.block_on(demo(args, &folder));
    // What still runs of a chapter that was stopped ends before its folder is removed.
    drop(runtime);
    folder.leave()?;
    ended
}

/// The tour, then the site until Ctrl-C if that is asked for.
async fn demo(args: &DemoArgs, folder: &Folder) -> Result<ExitCode, CommandFailure> {
    let mut stop = signals::stop_signal()?;
    let shown = tokio::select! {
        biased;
        signal = stop.asked() => return Ok(ExitCode::from(outcome::signal_code(signal))),
        shown = show(args, folder) => shown?,
    };
    let mut code = ExitCode::from(u8::from(!shown.holds));
    if let Some(server) = shown.server {
        let screen = Screen::new(&args.output);
        screen.gap()?;
        screen.text(&format!("The practice site stays at {} until you press Ctrl-C.", server.url()))?;
        let signal = stop.asked().await;
        folder.keep_site(&server)?;
        if shown.holds {
            code = ExitCode::from(outcome::signal_code(signal));
        }
    }
    Ok(code)
}

/// The tour, or the site of an earlier one.
async fn show(args: &DemoArgs, folder: &Folder) -> Result<Shown, CommandFailure> {
    let site = PracticeSite::new(Shape::demo());
    if let Some(kept) = folder.site() {
        let server = PracticeServer::start_at(site.in_version(kept.version), kept.address).await;
        let server = server.map_err(CommandFailure::system("cannot serve the practice site at its earlier address"))?;
        if args.output.json {
            outcome::document(&json!({"site": server.url(), "directory": folder.path().display().to_string()}))?;
        }
        return Ok(Shown { holds: true, server: Some(server) });
    }
    let server = PracticeServer::start(site).await.map_err(CommandFailure::system("cannot serve the practice site"))?;
    let tour = Tour::new(folder.path(), server, Screen::new(&args.output), &args.output)?;
    let story = chapters::all(&tour).await?;
    folder.keep_site(tour.server())?;
    if args.output.json {
        outcome::document(&document(&story, args, folder, &tour)?)?;
    }
    closing(&story, args, folder, tour.screen())?;
    Ok(Shown { holds: story.holds(), server: args.serve.then(|| tour.into_server()) })
}

/// The summary of the first crawl, and the figures of the tour.
fn document(story: &Story, args: &DemoArgs, folder: &Folder, tour: &Tour) -> Result<Value, CommandFailure> {
    let figures = json!({
        "site": tour.server().url(), "directory": folder.path().display().to_string(),
        "kept": folder.stays(), "served": args.serve, "tour_seconds": story.seconds(), "holds": story.holds(),
        "chapters": story.chapters.iter().map(chapter::Chapter::document).collect::<Vec<_>>(),
    });
    let mut document = summary::document(&directory::summary(folder.path())?);
    if let (Some(members), Value::Object(figures)) = (document.as_object_mut(), figures) {
        members.extend(figures);
    }
    Ok(document)
}

/// What held, and what to do next.
fn closing(story: &Story, args: &DemoArgs, folder: &Folder, screen: Screen) -> Result<(), CommandFailure> {
    screen.gap()?;
    match story.wrong() {
        0 => screen.good(&format!(
            "all {} statements were checked against the site and are true; {:.1} s",
            story.statements(),
            story.seconds()
        ))?,
        wrong => {
            screen.bad(&format!("{wrong} of {} statements are wrong: see above", story.statements()))?;
            if args.output.json || args.output.quiet {
                outcome::tell(&format!("error: {wrong} of {} statements of the demo are wrong", story.statements()));
            }
        }
    }
    let path = tour::quoted(&folder.path().display().to_string());
    match (folder.stays(), args.serve) {
        (true, true) => screen.text(&format!("{path} is kept."))?,
        (true, false) => {
            screen.text(&format!("{path} is kept. To serve its site again: webloom demo --serve -d {path}"))?;
        }
        (false, true) => screen.text(&format!("{path} is removed at the end; --keep keeps it."))?,
        (false, false) => {
            screen.text(&format!("{path} is removed now. To repeat the commands, run"))?;
            screen.text("webloom demo --keep --serve, and give each crawl a new -d.")?;
        }
    }
    screen.text("Now your own site: webloom crawl https://www.example.org/")
}
