//! What recurs over the pages of a site: its navigation, its footer.

use std::collections::{BTreeMap, HashMap};

use super::{
    content::PageContent,
    request::{Export, ExportError},
};
use crate::{
    markdown::{Repeated, block_keys},
    session::directory::ChangedSince,
};

/// Pages of a section that are read to learn it.
const SAMPLE: usize = 24;

/// Sections of which it is learnt.
const MOST_SECTIONS: usize = 64;

/// Blocks of a page of which it is learnt.
const MOST_BLOCKS: usize = 1_000;

/// A section with fewer pages teaches nothing.
const LEAST: usize = 5;

/// What recurs, by section.
#[derive(Debug, Default)]
pub(super) struct Chrome {
    sections: BTreeMap<String, Repeated>,
    nothing: Repeated,
}

/// What a section's first pages have.
#[derive(Debug, Default)]
struct Learning {
    pages: usize,
    counts: HashMap<u64, usize>,
}

impl Chrome {
    /// Learns it from the first pages of each section, whether they are exported or not.
    pub(super) fn learn(export: &Export<'_>) -> Result<Self, ExportError> {
        let mut sections: BTreeMap<String, Learning> = BTreeMap::new();
        export.records.current_pages(export.dir, ChangedSince::Ever, |page, bodies| {
            let name = section(&page.url);
            let known = sections.get(name);
            let is_wanted = known.map_or(sections.len() < MOST_SECTIONS, |section| section.pages < SAMPLE);
            if !page.is_html || !is_wanted {
                return Ok::<_, ExportError>(true);
            }
            if let Some(PageContent::Html(html)) = PageContent::of(page, bodies)? {
                let section = sections.entry(name.to_owned()).or_default();
                section.pages += 1;
                for key in block_keys(&html).into_iter().take(MOST_BLOCKS) {
                    *section.counts.entry(key).or_default() += 1;
                }
            }
            Ok(true)
        })?;
        let learnt = sections.into_iter().filter(|(_, section)| section.pages >= LEAST);
        let learnt =
            learnt.map(|(name, Learning { pages, counts })| (name, Repeated::from_counts(counts, pages.div_ceil(2))));
        Ok(Self { sections: learnt.collect(), nothing: Repeated::default() })
    }

    /// What recurs in the section of a page.
    pub(super) fn of(&self, url: &str) -> &Repeated {
        self.sections.get(section(url)).unwrap_or(&self.nothing)
    }
}

/// The host and the first folder of a URL.
fn section(url: &str) -> &str {
    let path = url.find("://").and_then(|scheme| url[scheme + 3..].find('/').map(|host| scheme + 3 + host + 1));
    let end = path.and_then(|path| url[path..].find(['/', '?']).map(|end| path + end));
    &url[..end.or(path).unwrap_or(url.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_a_host_and_a_folder() {
        let cases = [
            ("http://h/", "http://h/"),
            ("http://h/a", "http://h/"),
            ("http://h/a/", "http://h/a"),
            ("http://h/a/b?c", "http://h/a"),
            ("http://h", "http://h"),
        ];
        for (url, expected) in cases {
            assert_eq!(section(url), expected, "{url}");
        }
    }
}
