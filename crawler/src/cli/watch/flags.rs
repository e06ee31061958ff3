//! [`WatchFlags`]: the flags from which the settings of a watched crawl are read.

use std::path::PathBuf;

use clap::Args;

use super::super::{
    flags::{CrawlFlags, OutputFlags, ScheduleFlags},
    session,
};
use crate::config::Layers;

/// The profile where no other is given.
const PROFILE: &str = "revisit";

/// What settings are read from, at the start and again on SIGHUP.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct WatchFlags {
    #[command(flatten)]
    pub(in crate::cli) schedule: ScheduleFlags,
    #[command(flatten)]
    pub(in crate::cli) crawl: CrawlFlags,
    #[command(flatten)]
    pub(in crate::cli) output: OutputFlags,
}

impl WatchFlags {
    /// The layers of settings, with this profile and this file where there are any.
    pub(in crate::cli) fn layers(&self, profile: Option<&str>, config: Option<&PathBuf>) -> Layers {
        let mut crawl = self.crawl.clone();
        crawl.profile = profile.map(str::to_owned).or(crawl.profile).or_else(|| Some(PROFILE.to_owned()));
        crawl.config = config.cloned().or(crawl.config);
        session::layers(&crawl).flags(&self.schedule.overlay()).flags(&self.output.overlay())
    }
}
