//! The flags that say which links are checked.

use clap::Args;

use crate::config::{RawSettings, RawValue};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Link check")]
pub(super) struct CheckFlags {
    /// Check the links that leave the scope [default: off]
    ///
    /// Webloom asks for each such URL once, when no page is left to fetch, and follows its redirects. It keeps the delay and
    /// the robots.txt of each host. `webloom links --broken` shows what leads nowhere.
    #[arg(long)]
    check_external: bool,
    /// Check images, scripts, style sheets and other parts of pages [default: off]
    ///
    /// Webloom asks for each of them once, on this host and on others, when no page is left to fetch.
    #[arg(long)]
    check_assets: bool,
    /// Check that the anchors exist which links lead to (`page#name`) [default: off]
    ///
    /// Webloom looks for them on the pages of the crawl, and with --check-external on others, which it then reads.
    #[arg(long)]
    check_anchors: bool,
}

impl CheckFlags {
    pub(super) fn apply(&self, raw: &mut RawSettings) {
        let on = |is_given: bool| is_given.then(|| RawValue::text("on"));
        raw.check.external = on(self.check_external);
        raw.check.assets = on(self.check_assets);
        raw.check.anchors = on(self.check_anchors);
    }
}
