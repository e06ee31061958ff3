//! Text sitemaps: a URL a line.

use super::{
    gathering::{Gathering, Listed},
    list::SourceKind,
    problem::SourceFault,
};
use crate::url::WebUrl;

/// Where neither the type nor the name says that it is text, each line must be a URL; else one of them at least.
pub(super) fn read(text: &str, content_type: Option<&str>, gathering: &mut Gathering<'_>) -> Option<SourceKind> {
    let lines = || text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let is_url = |line: &str| url(line).is_some();
    let is_markup = text.trim_start().starts_with('<');
    let is_list = if is_called_text(content_type, gathering.url) { lines().any(is_url) } else { lines().all(is_url) };
    if is_markup || !is_list || lines().next().is_none() {
        return None;
    }
    for line in lines() {
        match url(line) {
            Some(url) => drop(gathering.add(Listed::Page, url)),
            None => gathering.problem(SourceFault::NotUrl, line),
        }
    }
    Some(SourceKind::Text)
}

fn url(line: &str) -> Option<WebUrl> {
    if line.contains(char::is_whitespace) { None } else { WebUrl::parse(line).ok() }
}

fn is_called_text(content_type: Option<&str>, url: &WebUrl) -> bool {
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    let path = url.path().to_ascii_lowercase();
    let name = path.strip_suffix(".gz").unwrap_or(&path);
    essence.eq_ignore_ascii_case("text/plain") || name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "txt")
}
