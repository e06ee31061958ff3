//! The flags that say what is taken out of pages.

use clap::Args;

use super::values::{list, text};
use crate::config::RawSettings;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is kept of pages")]
pub(super) struct ExtractFlags {
    /// Take this out of each page, such as 'price=.price'; may be repeated [default: none]
    ///
    /// NAME=CSS is the text of the first element that the CSS selector matches, NAME=CSS@ATTRIBUTE an attribute of it,
    /// NAME=CSS@html what is inside, and NAME[]=CSS a list of all. With 'REGEX => ' in front, it holds for URLs that match.
    /// `webloom pages` has the column `fields`.
    #[arg(long, value_name = "NAME=CSS[@ATTR]")]
    field: Vec<String>,
    /// Write the fields of each page to this file as JSON lines, or to stdout (-) [default: none]
    ///
    /// A line has `url`, `sequence`, `fetched_at` and `fields`. Lines are written while the crawl runs. With -, the summary goes
    /// to stderr.
    #[arg(long, value_name = "FILE|-")]
    items: Option<String>,
    /// Keep what servers answer in WARC files: none, warc or self-contained [default: none]
    ///
    /// They are in the folder `archive` of the crawl directory. With `warc`, a page that is as it was names the record that has its body;
    /// with `self-contained`, each record has it. `webloom get` reads a page.
    #[arg(long, value_name = "none|warc|self-contained")]
    archive: Option<String>,
    /// Fetch the images, styles and scripts of pages too: off or keep [default: off]
    ///
    /// They are fetched wherever they are, and count as pages. With an archive, `webloom export` writes a mirror of the site.
    #[arg(long, value_name = "off|keep")]
    assets: Option<String>,
}

impl ExtractFlags {
    pub(super) fn apply(&self, raw: &mut RawSettings) {
        raw.extract.fields = list(&self.field);
        raw.extract.items = text(self.items.as_ref());
        raw.archive.format = text(self.archive.as_ref());
        raw.archive.assets = text(self.assets.as_ref());
    }
}
