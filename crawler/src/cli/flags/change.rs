//! The flags that say what counts as a change.

use clap::Args;

use super::values::{list, text};
use crate::config::RawSettings;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Changes")]
pub(super) struct ChangeFlags {
    /// Keep the visible text of pages [default: auto]
    ///
    /// Webloom compares the texts to tell a changed text from changed bytes, and shows diffs of them. `auto` keeps them
    /// if the crawl is watched.
    #[arg(long, value_name = "auto|on|off")]
    text: Option<String>,
    /// Leave part of a page out of its text; may be repeated [default: none]
    ///
    /// `css:` leaves out elements, and `re:` what matches within a line. `before:` leaves out everything up to the
    /// first line with this text, and `after:` everything from the first line with this text on.
    #[arg(long, value_name = "css:SELECTOR|re:REGEX|before:TEXT|after:TEXT")]
    ignore: Vec<String>,
    /// How long to wait for a second look at a text that shrank to a quarter [default: 10m]
    ///
    /// Webloom reports the change only if the second look confirms it.
    #[arg(long, value_name = "DURATION")]
    confirm: Option<String>,
    /// How long to wait for a second look at a page that is not found [default: 1d]
    ///
    /// Webloom reports that the page is gone only if the second look confirms it. It reports a page that answers 410 at
    /// once.
    #[arg(long, value_name = "DURATION")]
    gone_after: Option<String>,
}

impl ChangeFlags {
    pub(super) fn apply(&self, raw: &mut RawSettings) {
        raw.change.text = text(self.text.as_ref());
        raw.change.ignore = list(&self.ignore);
        raw.change.confirm = text(self.confirm.as_ref());
        raw.change.gone_after = text(self.gone_after.as_ref());
    }
}
