//! The validated settings: one struct per component, each beside what is allowed for its keys.

mod archive;
mod budget;
mod cache;
mod change;
mod check;
mod crawl;
mod extract;
mod fetch;
mod frontier;
mod host;
mod key;
mod machine;
mod output;
mod pattern;
mod politeness;
mod revisit;
mod schedule;
mod scope;
mod search;
mod section;
mod sources;

pub use archive::{ArchiveChoice, ArchiveSettings, AssetsChoice, CompressionChoice};
pub use budget::BudgetSettings;
pub use cache::{AuditRescue, CacheSettings, HashSeed, SweepChoice};
pub use change::{ChangeSettings, ImagesChoice, TextChoice};
pub use check::{CheckChoice, CheckSettings};
pub use crawl::{LinksChoice, RetrySettings, StoreSettings};
pub(super) use extract::FIELDS;
pub use extract::{ExtractSettings, NofollowChoice};
pub use fetch::{CookieChoice, FetchLimits, Header, Login, ProxyChoice, UserAgent};
pub use frontier::{FrontierSettings, OrderChoice};
pub(super) use frontier::{ORDER, PRIORITIES, PriorityFault, as_entry, priority};
pub use key::KeySettings;
pub use machine::{LEAST_MEMORY, MachineSettings, MemoryChoice};
pub use output::{LogFormat, LogSettings};
pub use politeness::{PolitenessSettings, RobotsSettings, ShareChoice};
pub(super) use revisit::SECTIONS;
pub use revisit::{AdaptiveChoice, RevisitSettings};
pub(super) use schedule::{CRON, EVERY};
pub use schedule::{HeartbeatUrl, Overlap, Pause, ScheduleSettings, Spread};
pub use scope::{ScopeKind, ScopeSettings};
pub use search::{IndexChoice, SearchSettings};
pub(super) use section::{SECTION_LIMITS, URL_SECTIONS, section, written_section};
pub use sources::{CanonicalChoice, FormsChoice, ListsChoice, SourcesSettings};

use super::reader::KeyReader;

/// All settings of a crawl, checked. Hand each component its own part, not the whole.
///
/// ```
/// let settings = webloom::internals::config::Settings::default();
/// assert_eq!(settings.politeness.delay.as_secs(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// What belongs to the crawl.
    pub scope: ScopeSettings,
    /// Which URLs are one page.
    pub key: KeySettings,
    /// What stops it.
    pub budget: BudgetSettings,
    /// How hard a server may be asked.
    pub politeness: PolitenessSettings,
    /// robots.txt.
    pub robots: RobotsSettings,
    /// One request and its answer.
    pub fetch: FetchLimits,
    /// A fetch that failed and may succeed later.
    pub retry: RetrySettings,
    /// What is read from pages.
    pub extract: ExtractSettings,
    /// Where URLs come from, beside links.
    pub sources: SourcesSettings,
    /// Links that lead to what is no page of the crawl.
    pub check: CheckSettings,
    /// The URL cache.
    pub cache: CacheSettings,
    /// What is fetched next.
    pub frontier: FrontierSettings,
    /// Pages that are asked for once more.
    pub revisit: RevisitSettings,
    /// What counts as a change.
    pub change: ChangeSettings,
    /// When the next sequence begins.
    pub schedule: ScheduleSettings,
    /// The database.
    pub store: StoreSettings,
    /// What is kept of answers.
    pub archive: ArchiveSettings,
    /// The full-text index.
    pub search: SearchSettings,
    /// What it may take of this machine.
    pub machine: MachineSettings,
    /// What the program says about its work.
    pub log: LogSettings,
}

impl Settings {
    /// The depth beyond which no URL is fetched; `None` where no URL has a limit.
    pub fn depth_limit(&self) -> Option<u32> {
        self.scope.sections.deepest(self.budget.max_depth)
    }

    /// Whether it is kept what links say of themselves.
    pub fn labels_links(&self) -> bool {
        self.store.links == LinksChoice::Full || self.check.any() || self.check.anchors == CheckChoice::On
    }

    /// Whether pages are put into the full-text index.
    pub fn is_indexed(&self) -> bool {
        let is_wanted = match self.search.index {
            IndexChoice::On => true,
            IndexChoice::Auto => self.archive.is_on(),
            IndexChoice::Off => false,
        };
        is_wanted && self.change.text != TextChoice::Off
    }

    /// Reads every key, in the order of `default.toml`.
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            scope: ScopeSettings::read(reader),
            key: KeySettings::read(reader),
            budget: BudgetSettings::read(reader),
            politeness: PolitenessSettings::read(reader),
            robots: RobotsSettings::read(reader),
            fetch: FetchLimits::read(reader),
            retry: RetrySettings::read(reader),
            extract: ExtractSettings::read(reader),
            sources: SourcesSettings::read(reader),
            check: CheckSettings::read(reader),
            cache: CacheSettings::read(reader),
            frontier: FrontierSettings::read(reader),
            schedule: ScheduleSettings::read(reader),
            revisit: RevisitSettings::read(reader),
            change: ChangeSettings::read(reader),
            store: StoreSettings::read(reader),
            archive: ArchiveSettings::read(reader),
            search: SearchSettings::read(reader),
            machine: MachineSettings::read(reader),
            log: LogSettings::read(reader),
        }
    }
}

#[cfg(test)]
mod tests;
