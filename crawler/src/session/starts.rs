//! START arguments: URLs, hosts without a scheme, `@file` lists, and `-` for a list on stdin.

use std::{io, path::Path};

use super::{CommandFailure, directory::CrawlDirectory};
use crate::url::{Credentials, WebUrl};

/// A start URL as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Start {
    /// What is fetched first.
    pub(crate) url: WebUrl,
    /// Whether the user gave no scheme: `http` is tried if `https` has no answer.
    pub(crate) guessed: bool,
    /// User name and password given with it, for all requests to its origin. `url` has none.
    pub(crate) credentials: Option<Credentials>,
}

/// Reads START arguments; every one that is wrong is named.
pub(crate) fn read(arguments: &[String]) -> Result<Vec<Start>, CommandFailure> {
    let (mut starts, mut faults) = (Vec::new(), Vec::new());
    for argument in arguments {
        let read = each_line(argument, |place, text| match start(text) {
            Ok(start) => starts.push(start),
            Err(reason) => faults.push(fault(place, text, &reason)),
        });
        faults.extend(read.err());
    }
    if faults.is_empty() { Ok(starts) } else { Err(CommandFailure::Usage(faults.join("\n"))) }
}

/// Reads one start: a URL, or a host without a scheme.
pub(crate) fn read_one(text: &str) -> Result<Start, CommandFailure> {
    start(text).map_err(|reason| CommandFailure::Usage(fault("start", text, &reason)))
}

/// Reads a URL that is asked for, without user name and password. It must have a scheme: nothing tries which one is meant.
pub(crate) fn read_whole(text: &str) -> Result<WebUrl, CommandFailure> {
    let read = start(text).and_then(|start| match start {
        Start { url, guessed: true, .. } => Err(format!("it has no scheme: is it {url}, or the same with http?")),
        Start { url, .. } => Ok(url),
    });
    let fault =
        |reason| format!("{:?} is no URL: {reason}; give a whole one such as https://example.org/page", shown(text));
    read.map_err(|reason| CommandFailure::Usage(fault(reason)))
}

/// What reads the list on stdin, if any does.
const STDIN: &str = "-";

/// A list on stdin can be read once.
pub(crate) fn check_stdin<'a>(arguments: impl Iterator<Item = &'a String>) -> Result<(), CommandFailure> {
    let lists = arguments.filter(|argument| *argument == STDIN).count();
    let twice = || CommandFailure::Usage("- is given more than once, but stdin can be read only once".to_owned());
    if lists > 1 { Err(twice()) } else { Ok(()) }
}

/// Shows what an argument means, and where that is written: itself, or the lines of a list.
fn each_line(argument: &str, mut each: impl FnMut(&str, &str)) -> Result<(), String> {
    let (place, text) = match argument.strip_prefix('@') {
        Some(file) => (file, std::fs::read_to_string(file)),
        None if argument == STDIN => ("stdin", io::read_to_string(io::stdin())),
        None => return not_a_path(argument).map(|()| each("START", argument)),
    };
    let text = text.map_err(|error| format!("cannot read the list {place}: {error}"))?;
    if list(&text).next().is_none() {
        return Err(format!("the list {place} holds no URL"));
    }
    list(&text).for_each(|(number, line)| each(&format!("{place}:{number}"), line));
    Ok(())
}

/// A word that is no URL, and the name of a file or of a crawl directory: it is more likely that than a host.
fn not_a_path(argument: &str) -> Result<(), String> {
    let path = Path::new(argument);
    if argument.contains("://") {
        return Ok(());
    }
    if path.is_file() {
        return Err(format!("{argument:?} is a file: give @{argument} to read start URLs from it"));
    }
    // One that is called as its host is may be given beside it.
    if CrawlDirectory::exists(path) && !argument.contains('.') {
        return Err(format!(
            "{argument:?} is a crawl directory: give -d {argument} to resume its crawl, or http://{argument} for a host"
        ));
    }
    Ok(())
}

fn fault(place: &str, text: &str, reason: &str) -> String {
    let text = shown(text);
    format!("{place}: {text:?} is not a start URL: {reason}; give http:// or https:// and a host")
}

fn start(text: &str) -> Result<Start, String> {
    // `localhost:8080/x` parses as a URL of the scheme `localhost`; only `://` tells that a scheme was meant.
    let guessed = !text.contains("://") && !has_other_scheme(text);
    let whole = if guessed { format!("https://{text}") } else { text.to_owned() };
    let (url, credentials) = WebUrl::parse(&whole).map_err(|error| error.to_string())?.split_credentials();
    if guessed && ["/", "./", "../"].iter().any(|root| text.starts_with(root)) {
        return Err("it is a path".to_owned());
    }
    if guessed && ["http", "https"].contains(&url.host()) {
        return Err("there is no colon after its scheme".to_owned());
    }
    Ok(Start { url, guessed, credentials })
}

/// A text as it may be printed. What is no URL may hold a password anywhere before its last `@`.
fn shown(text: &str) -> String {
    let Some((secret, rest)) = text.rsplit_once('@') else { return text.to_owned() };
    if secret.strip_prefix("mailto:").is_some_and(|user| !user.contains(':')) {
        return text.to_owned();
    }
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let known = ["http", "https", "ftp"].contains(&scheme);
    format!("{}…@{rest}", if known { format!("{scheme}://") } else { String::new() })
}

/// `mailto:me@x`, `data:…`: a scheme, and no port behind the colon.
fn has_other_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        let word = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
        let port =
            rest.split('/').next().is_some_and(|port| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()));
        word && !port
    })
}

/// The lines of a list that are neither empty nor comments, with their numbers. Some editors begin a file with a mark of no width.
fn list(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_guessed_only_where_there_is_none() {
        let guessed = |text| read_one(text).map(|start| (start.url.as_str().to_owned(), start.guessed)).unwrap();
        assert_eq!(guessed("http://h/a"), ("http://h/a".to_owned(), false));
        assert_eq!(guessed("docs.example.org"), ("https://docs.example.org/".to_owned(), true));
        assert_eq!(guessed("localhost:8080/x"), ("https://localhost:8080/x".to_owned(), true));
    }

    #[test]
    fn other_schemes_and_nonsense_are_refused() {
        for text in
            ["ftp://h/", "mailto:me@h", "file:///etc/passwd", "http://", "javascript:f(1)", "", "./site", "/srv/site"]
        {
            assert!(matches!(read_one(text), Err(CommandFailure::Usage(_))), "{text}");
        }
    }

    #[test]
    fn a_password_is_kept_apart_and_never_repeated() {
        let start = read_one("https://bob:s3cret@h/a").unwrap();
        assert_eq!((start.url.as_str(), start.credentials.is_some()), ("https://h/a", true));
        for text in [
            "bob:s3cret@h/",
            "ftp://bob:s3cret@h/",
            "http://bob:s3cret@h:x/",
            "http://bob:s3cret/x@h/",
            "bob:#s3cret@h",
        ] {
            let message = read_one(text).unwrap_err().to_string();
            assert!(!message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn every_shipped_list_reads() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
        for entry in std::fs::read_dir(folder).unwrap() {
            let list = format!("@{}", entry.unwrap().path().display());
            assert!(!read(&[list]).unwrap().is_empty());
        }
        assert!(read(&["@/nowhere".to_owned()]).unwrap_err().to_string().contains("/nowhere"));
    }

    #[test]
    fn a_list_has_comments_and_empty_lines() {
        let lines: Vec<_> = list("\u{feff}# starts\r\n\r\n  http://h/ \n#x\nh2").collect();
        assert_eq!(lines, [(3, "http://h/"), (5, "h2")]);
    }
}
