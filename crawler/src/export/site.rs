//! [`ExportedSite`]: which files there are, and how they link to one another.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    content::PageContent,
    names,
    request::{Export, ExportError},
};
use crate::url::WebUrl;

/// A redirect is followed so often.
const MOST_REDIRECTS: usize = 5;

/// The pages of a crawl that have files.
#[derive(Debug)]
pub(super) struct ExportedSite {
    suffix: &'static str,
    /// The origin of the first URL: its pages are in no folder of their own.
    own: String,
    /// Names that two URLs have but for their case, by the hashes of those in lower case, with the hash of the URL that came first.
    taken: HashMap<u64, u64>,
    /// Those that have files in this export, by the hashes of their URLs.
    pages: HashSet<u64>,
    redirects: HashMap<u64, String>,
}

impl ExportedSite {
    /// What is known of the whole crawl: so the name of a file does not depend on which pages are there now.
    pub(super) fn read(export: &Export<'_>, suffix: &'static str) -> Result<Self, ExportError> {
        let mut site = Self {
            suffix,
            own: String::new(),
            taken: HashMap::new(),
            pages: HashSet::new(),
            redirects: HashMap::new(),
        };
        let mut first: HashMap<u64, u64> = HashMap::new();
        export.records.urls(|url| {
            let Ok(url) = WebUrl::parse(url) else { return };
            if site.own.is_empty() {
                site.own = url.origin().to_string();
            }
            let name = hash(&names::file_name(&url, suffix, &site.own).to_lowercase());
            let owner = *first.entry(name).or_insert_with(|| hash(url.as_str()));
            if owner != hash(url.as_str()) {
                site.taken.insert(name, owner);
            }
        })?;
        export.records.current_pages(export.dir, export.since, |page, _| {
            let is_wanted = export.matching.as_ref().is_none_or(|matching| matching.is_match(&page.url));
            if is_wanted && page.is_archived() && PageContent::is_readable(page.is_html, page.content_type.as_deref()) {
                site.pages.insert(hash(&page.url));
            }
            Ok::<_, ExportError>(true)
        })?;
        export.records.redirects(|from, to| {
            site.redirects.insert(hash(from), to.to_owned());
        })?;
        Ok(site)
    }

    /// The file of a page.
    pub(super) fn file(&self, url: &WebUrl) -> String {
        let name = names::file_name(url, self.suffix, &self.own);
        let owner = self.taken.get(&hash(&name.to_lowercase()));
        if owner.is_none_or(|owner| *owner == hash(url.as_str())) {
            return name;
        }
        names::with_hash(name.strip_suffix(self.suffix).unwrap_or(&name), url, self.suffix)
    }

    /// What a link to a URL is in a file: the way to the file of its page, or else the URL.
    pub(super) fn link(&self, target: &url::Url, from: &str) -> String {
        let mut page = target.clone();
        page.set_fragment(None);
        for _ in 0..MOST_REDIRECTS {
            if self.pages.contains(&hash(page.as_str())) {
                break;
            }
            let Some(next) = self.redirects.get(&hash(page.as_str())).and_then(|next| url::Url::parse(next).ok())
            else {
                break;
            };
            page = next;
            page.set_fragment(None);
        }
        let Some(url) = WebUrl::parse(page.as_str()).ok().filter(|url| self.pages.contains(&hash(url.as_str()))) else {
            return target.as_str().to_owned();
        };
        let fragment = target.fragment().map_or(String::new(), |fragment| format!("#{fragment}"));
        let file = self.file(&url);
        if file == from && !fragment.is_empty() { fragment } else { way(from, &file) + &fragment }
    }
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// The relative path from one file to another.
fn way(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let most = from.len().min(to.len()) - 1;
    let common = (0..most).take_while(|at| from[*at] == to[*at]).count();
    let up = "../".repeat(from.len() - 1 - common);
    let way = up + &to[common..].join("/");
    // What is before a colon would be a scheme.
    if way.split('/').next().is_some_and(|first| first.contains(':')) { format!("./{way}") } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_relative() {
        let cases = [
            ("a.md", "b.md", "b.md"),
            ("a/b.md", "a/c.md", "c.md"),
            ("a/b.md", "c.md", "../c.md"),
            ("a.md", "b/c.md", "b/c.md"),
            ("a/b/c.md", "a/d/e.md", "../d/e.md"),
            ("a.md", "a.md", "a.md"),
        ];
        for (from, to, expected) in cases {
            assert_eq!(way(from, to), expected, "{from} {to}");
        }
    }
}
