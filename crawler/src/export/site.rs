//! [`ExportedSite`]: which files there are, and how they link to one another.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    content::PageContent,
    names::{self, Suffix},
    request::{Export, ExportError},
};
use crate::{
    session::directory::{ChangedSince, CurrentPage},
    url::{Canonicalizer, WebUrl},
};

/// A redirect is followed so often.
const MOST_REDIRECTS: usize = 5;

/// The pages of a crawl that have files.
#[derive(Debug)]
pub(super) struct ExportedSite {
    /// The origin of the first URL: its pages are in no folder of their own.
    own: String,
    /// Names that two URLs have but for their case, by the hashes of those in lower case, with the hash of the URL that came first.
    taken: HashMap<u64, u64>,
    /// Names of folders, where a file might have one too: by the hashes of those in lower case.
    folders: HashSet<u64>,
    /// Those that have files in this export, by the hashes of their keys: their URLs, and how the names of their files end.
    pages: HashMap<u64, (Box<str>, Suffix)>,
    redirects: HashMap<u64, String>,
    /// What makes one page of several URLs.
    rules: Canonicalizer,
}

impl ExportedSite {
    /// What is known of the whole crawl: so the name of a file, which ends so, does not depend on which pages are there now.
    pub(super) fn read(export: &Export<'_>, suffix: &'static str) -> Result<Self, ExportError> {
        let mut site = Self::new(export)?;
        let suffix = Suffix::Added(suffix);
        let mut first = HashMap::new();
        export.records.urls(|url| {
            if let Ok(url) = WebUrl::parse(url) {
                site.name(&url, suffix, &mut first);
            }
        })?;
        site.add_pages(export, |page| {
            PageContent::is_readable(page.is_html, page.content_type.as_deref()).then_some(suffix)
        })?;
        Ok(site)
    }

    /// The same of files that have names as their URLs have. What is a folder is no file.
    pub(super) fn read_as_it_is(
        export: &Export<'_>,
        suffix_of: impl Fn(&CurrentPage) -> Suffix,
    ) -> Result<Self, ExportError> {
        let mut site = Self::new(export)?;
        let mut first = HashMap::new();
        export.records.current_pages(export.dir, ChangedSince::Ever, |page, _| {
            if let Some(url) = WebUrl::parse(&page.url).ok().filter(|_| page.is_archived()) {
                let name = site.name(&url, suffix_of(page), &mut first);
                let folders = name.match_indices('/').map(|(end, _)| hash(&name[..end]));
                site.folders.extend(folders);
            }
            Ok::<_, ExportError>(true)
        })?;
        site.add_pages(export, |page| Some(suffix_of(page)))?;
        Ok(site)
    }

    fn new(export: &Export<'_>) -> Result<Self, ExportError> {
        let (mut own, mut redirects) = (String::new(), HashMap::new());
        export.records.urls(|url| {
            if let Some(url) = WebUrl::parse(url).ok().filter(|_| own.is_empty()) {
                own = url.origin().to_string();
            }
        })?;
        let rules = export.records.key_rules()?;
        export.records.redirects(|from, to| {
            if let Ok(from) = WebUrl::parse(from) {
                redirects.insert(hash(rules.key(&from).as_str()), to.to_owned());
            }
        })?;
        Ok(Self { own, taken: HashMap::new(), folders: HashSet::new(), pages: HashMap::new(), redirects, rules })
    }

    /// Takes note of the name of a URL, in lower case.
    fn name(&mut self, url: &WebUrl, suffix: Suffix, first: &mut HashMap<u64, u64>) -> String {
        let name = names::file_name(url, suffix, &self.own).to_lowercase();
        let owner = *first.entry(hash(&name)).or_insert_with(|| hash(url.as_str()));
        if owner != hash(url.as_str()) {
            self.taken.insert(hash(&name), owner);
        }
        name
    }

    /// Takes note of the pages of this export, with how their files end.
    fn add_pages(
        &mut self,
        export: &Export<'_>,
        suffix_of: impl Fn(&CurrentPage) -> Option<Suffix>,
    ) -> Result<(), ExportError> {
        export.records.current_pages(export.dir, export.since, |page, _| {
            if export.wants(&page.url)
                && page.is_archived()
                && let Some(suffix) = suffix_of(page)
                && let Ok(url) = WebUrl::parse(&page.url)
            {
                self.pages.insert(self.key(&url), (page.url.as_str().into(), suffix));
            }
            Ok(true)
        })
    }

    /// The file of a page.
    pub(super) fn file(&self, url: &WebUrl, suffix: Suffix) -> String {
        let name = names::file_name(url, suffix, &self.own);
        let known = hash(&name.to_lowercase());
        let is_own = self.taken.get(&known).is_none_or(|owner| *owner == hash(url.as_str()));
        if is_own && !self.folders.contains(&known) {
            return name;
        }
        names::with_hash(name.strip_suffix(suffix.text()).unwrap_or(&name), url, suffix.text())
    }

    /// What a link to a URL is in a file: the way to the file of its page, or else the URL.
    pub(super) fn link(&self, target: &url::Url, from: &str) -> String {
        let Some((url, suffix, fragment)) = self.page(target) else { return target.as_str().to_owned() };
        let fragment = target.fragment().map(str::to_owned).or(fragment);
        let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
        let file = self.file(&url, suffix);
        if file == from && !fragment.is_empty() { fragment } else { way(from, &file) + &fragment }
    }

    /// The page to which a URL leads, through redirects too, and the fragment that the last one of them names.
    fn page(&self, target: &url::Url) -> Option<(WebUrl, Suffix, Option<String>)> {
        let mut url = WebUrl::parse(target.as_str()).ok()?;
        let mut fragment = None;
        for _ in 0..=MOST_REDIRECTS {
            let key = self.key(&url);
            if let Some((page, suffix)) = self.pages.get(&key) {
                return Some((WebUrl::parse(page).ok()?, *suffix, fragment));
            }
            let next = self.redirects.get(&key)?;
            fragment = url::Url::parse(next).ok().and_then(|next| next.fragment().map(str::to_owned)).or(fragment);
            url = WebUrl::parse(next).ok()?;
        }
        None
    }

    fn key(&self, url: &WebUrl) -> u64 {
        hash(self.rules.key(url).as_str())
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
