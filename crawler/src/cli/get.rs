//! `webloom get`.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use jiff::Timestamp;

use super::{
    CommandFailure,
    directory::{self, ArchiveMoment, ArchivedCopy},
    outcome,
};
use crate::{
    export::{archived_content, decoded_body},
    url::WebUrl,
};

/// Arguments of `get`.
#[derive(Debug, Args)]
pub(super) struct GetArgs {
    /// Crawl directory
    dir: PathBuf,
    /// URL of a page
    url: String,
    /// Take the copy of this sequence
    #[arg(long, value_name = "N", conflicts_with = "at")]
    sequence: Option<u32>,
    /// Take the last copy that was fetched until then
    ///
    /// Such as 2026-11-27T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// Print the body, content codings undone (the default)
    #[arg(long, group = "part")]
    body: bool,
    #[command(flatten)]
    said: SaidArgs,
    /// Print status line and headers
    #[arg(long, group = "part")]
    headers: bool,
    /// Print all of it, the body as it was sent
    #[arg(long, group = "part")]
    raw: bool,
}

/// What the page says, instead of its bytes.
#[derive(Debug, Args)]
struct SaidArgs {
    /// Print what the page says, without its navigation
    #[arg(long, group = "part")]
    text: bool,
    /// Print the same as Markdown
    #[arg(long, group = "part")]
    markdown: bool,
}

pub(super) fn run(args: &GetArgs) -> Result<ExitCode, CommandFailure> {
    let url = WebUrl::parse(&args.url).map_err(|error| CommandFailure::Usage(format!("{}: {error}", args.url)))?;
    let moment = match (args.sequence, args.at) {
        (Some(sequence), _) => ArchiveMoment::Sequence(sequence),
        (None, Some(at)) => ArchiveMoment::At(at.into()),
        (None, None) => ArchiveMoment::Last,
    };
    let url = url.without_credentials();
    let copy = directory::archived(&args.dir, &url, moment)?;
    // An error has a body too, but no page.
    let Some(copy) = copy.filter(|copy| copy.is_page || args.headers || args.raw) else {
        let why = "there is no copy of it as a page in the archive";
        let hint = "`webloom why` says what became of it, --raw prints an error, and `--archive warc` keeps pages";
        outcome::tell(&format!("{}: {why}; {hint}", url.as_str()));
        return Ok(ExitCode::FAILURE);
    };
    let bytes = if args.headers {
        copy.head
    } else if args.raw {
        [copy.head, copy.body].concat()
    } else if args.said.text || args.said.markdown {
        let Some(document) = archived_content(&decoded(&copy)?, copy.content_type.as_deref(), &url) else {
            outcome::tell(&format!("{}: it is no HTML and no text; --body prints it", url.as_str()));
            return Ok(ExitCode::FAILURE);
        };
        let said =
            if args.said.text { document.text() + "\n" } else { document.markdown(&|url| url.as_str().to_owned()) };
        said.into_bytes()
    } else {
        decoded(&copy)?
    };
    let mut out = io::stdout().lock();
    match out.write_all(&bytes).and_then(|()| out.flush()) {
        // A reader that has gone away (`| head`) is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::system("cannot write")(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn decoded(copy: &ArchivedCopy) -> Result<Vec<u8>, CommandFailure> {
    decoded_body(&copy.body, copy.coding.as_deref()).map_err(|error| {
        CommandFailure::system("cannot decode the archived body")(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}
