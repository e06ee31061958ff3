//! The settings of a crawl: where they come from, which are allowed, what they mean.
//!
//! Owns: the raw schema ([`RawSettings`]: every key optional, an unknown key is an error), the [`Layers`] that are
//! merged, and the validated [`Settings`], one struct per component. Layers, the stronger first: flags, variables
//! (`WEBLOOM_…`), the file, the settings stored in a crawl directory, the profile, `default.toml`.
//!
//! Invariants: `default.toml` holds every key and is valid; a `Settings` is valid; all faults of all layers are
//! reported at once, each with its place, its value and what is allowed; a secret is never printed, and leaves this
//! module only by [`RawSettings::to_json`] and in the fields that need it.
//!
//! Does not know: what the components do with their values, where a crawl directory is, or which flags exist beyond
//! their names.

mod document;
mod fault;
mod jobs;
mod layers;
mod names;
mod priority;
mod reader;
mod reference;
mod resume;
mod rhythm;
mod rules;
mod schema;
mod secret;
mod section;
mod settings;
mod tables;
mod units;
mod value;

pub use document::{DEFAULT_TOML, PROFILES};
pub use fault::{ConfigFault, ConfigFaults, Source};
pub use jobs::{JobEntry, JobsFile, SharedLimits};
pub use layers::{Layers, Resolved};
pub use reference::{DescribedKey, ReferenceRow, reference};
pub use resume::{ChangedKey, changed_keys, resume_check};
pub use schema::{
    RawBudget, RawCache, RawCheck, RawExtract, RawFetch, RawFrontier, RawKey, RawLog, RawMachine, RawPoliteness,
    RawRetry, RawRobots, RawSchedule, RawScope, RawSettings, RawSources, RawStore,
};
pub use secret::SecretText;
pub use settings::{
    AdaptiveChoice, ArchiveChoice, ArchiveSettings, AssetsChoice, AuditRescue, BudgetSettings, CacheSettings,
    CanonicalChoice, ChangeSettings, CheckChoice, CheckSettings, CompressionChoice, CookieChoice, ExtractSettings,
    FetchLimits, FormsChoice, FrontierSettings, HashSeed, Header, HeartbeatUrl, ImagesChoice, IndexChoice, KeySettings,
    LEAST_MEMORY, LinksChoice, ListsChoice, LogFormat, LogSettings, Login, MachineSettings, MemoryChoice,
    NofollowChoice, OrderChoice, Overlap, Pause, PolitenessSettings, ProxyChoice, RetrySettings, RevisitSettings,
    RobotsSettings, ScheduleSettings, ScopeKind, ScopeSettings, SearchSettings, Settings, ShareChoice, SourcesSettings,
    Spread, StoreSettings, SweepChoice, TextChoice, UserAgent,
};
pub use units::{parse_duration, parse_size, print_duration, print_size};
pub use value::{RawValue, SecretValue};
