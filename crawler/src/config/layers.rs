//! [`Layers`]: where settings come from, and how they become one [`Settings`].

use std::{ffi::OsString, path::Path};

use super::{
    ConfigFault, ConfigFaults, OrderChoice, RawSettings, RawValue, Settings, Source,
    document::{self, DROPPED, Document, PROFILES},
    fault::nearest,
    names::variable,
    reader::{KeyRead, KeyReader, Layer},
    schema::Flat,
    settings::{ORDER, PRIORITIES},
};

/// The given settings, layer by layer. The order of calls does not matter: each layer has its place (see [`Source`]).
///
/// ```
/// use webloom::internals::config::Layers;
/// let layers = Layers::new()
///     .file_text("webloom.toml", "[politeness]\ndelay = \"5s\"")
///     .variables([("WEBLOOM_POLITENESS_DELAY".into(), "2s".into())]);
/// assert_eq!(layers.resolve()?.settings.politeness.delay.as_secs(), 2);
/// # Ok::<(), webloom::internals::config::ConfigFaults>(())
/// ```
#[derive(Clone)]
pub struct Layers {
    layers: Vec<Layer>,
    faults: Vec<ConfigFault>,
}

/// Checked settings, and where each value came from.
#[derive(Debug)]
pub struct Resolved {
    /// The values for the components.
    pub settings: Settings,
    /// The same as raw values, every key given and equal values written alike: what a crawl directory stores.
    pub effective: RawSettings,
    /// Where the value of each key came from, in the order of `default.toml`.
    pub(super) origins: Vec<(&'static str, Source)>,
}

impl Default for Settings {
    /// What `default.toml` says.
    fn default() -> Self {
        Layers::new().resolve().expect("default.toml is valid").settings
    }
}

impl Default for Layers {
    fn default() -> Self {
        Self::new()
    }
}

impl Layers {
    /// `default.toml` alone.
    pub fn new() -> Self {
        let layers = vec![Layer { source: Source::Default, values: document::defaults().clone() }];
        Self { layers, faults: Vec::new() }
    }

    /// Adds the profile of this name; an unknown one is a fault.
    #[must_use]
    pub fn profile(mut self, name: &str) -> Self {
        let source = Source::Profile(name.to_owned());
        if let Some((_, text)) = PROFILES.iter().find(|(known, _)| *known == name) {
            return self.document(text, source);
        }
        let names: Vec<_> = PROFILES.iter().map(|(name, _)| *name).collect();
        let problem = format!("unknown profile; this version has {}", names.join(", "));
        self.faults.push(ConfigFault::new(source.to_string(), problem));
        self
    }

    /// Adds the settings of an existing crawl directory ([`RawSettings::to_json`]). Its `[log]` belonged to another run
    /// and does not count. One that says nothing of the rules of its keys has none,
    /// and one that says nothing of its history keeps all.
    #[must_use]
    pub fn stored(self, text: &str) -> Self {
        let mut layers = self.document(text, Source::Stored);
        for layer in layers.layers.iter_mut().filter(|layer| layer.source == Source::Stored) {
            layer.values.retain(|key, _| !key.starts_with("log."));
            layer.values.entry("key.rules".to_owned()).or_insert(RawValue::List(Vec::new()));
            layer.values.entry("store.keep".to_owned()).or_insert(RawValue::text("all"));
        }
        layers
    }

    /// Adds the configuration file at `path`; one that cannot be read is a fault.
    #[must_use]
    pub fn file(mut self, path: &Path) -> Self {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => self.file_text(&name, &text),
            Err(error) => {
                self.faults.push(ConfigFault::new(name, format!("cannot read the settings: {error}")));
                self
            }
        }
    }

    /// Adds a configuration file's text under its name.
    #[must_use]
    pub fn file_text(self, name: &str, text: &str) -> Self {
        self.document(text, Source::File(name.to_owned()))
    }

    /// Adds the environment. A name that begins with `WEBLOOM_` and a section, or is close to a key's, must be a key's;
    /// others are left alone (a container's host adds names of its own). Empty variables count as not set.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut values = Flat::new();
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with("WEBLOOM_")) else { continue };
            let is_named = |key: &str| variable(key) == name;
            let is_key = |key: &&String| is_named(key) || document::short_name(key).is_some_and(is_named);
            match (RawSettings::keys().iter().find(is_key), value.into_string()) {
                (Some(_), Ok(text)) if text.is_empty() => {}
                (Some(key), Ok(text)) => drop(values.insert(key.clone(), RawValue::Text(text))),
                (Some(_), Err(_)) => self.faults.push(ConfigFault::new(name, "is not UTF-8")),
                (None, _) => self.faults.extend(unknown_variable(name)),
            }
        }
        self.add(Source::Variables, values)
    }

    /// Adds what flags gave; may be called for several groups of flags.
    #[must_use]
    pub fn flags(self, given: &RawSettings) -> Self {
        self.add(Source::Flags, given.to_flat())
    }

    /// Checks every value of every layer and takes the strongest of each key.
    ///
    /// # Errors
    /// All faults of all layers.
    pub fn resolve(&self) -> Result<Resolved, ConfigFaults> {
        let mut reader = KeyReader::new(&self.layers);
        let settings = Settings::read(&mut reader);
        let mut faults = self.faults.clone();
        faults.append(&mut reader.faults);
        ConfigFaults::check(faults)?;
        Ok(Resolved::new(settings, reader.keys))
    }

    pub(super) fn document(mut self, text: &str, source: Source) -> Self {
        let mut read = Document::parse(text, &source);
        self.faults.append(&mut read.faults);
        self.add(source, read.values)
    }

    fn add(mut self, source: Source, values: Flat) -> Self {
        self.layers.push(Layer { source, values });
        self.layers.sort_by(|a, b| a.source.cmp(&b.source));
        self
    }
}

impl Resolved {
    fn new(settings: Settings, keys: Vec<KeyRead>) -> Self {
        let origins = keys.iter().map(|read| (read.key, read.source.clone())).collect();
        let values = keys.into_iter().map(|read| (read.key.to_owned(), read.value)).collect();
        Self { settings, effective: RawSettings::from_flat(values), origins }
    }

    /// Whether a key was given for this run, and not found in the crawl directory or left at its default.
    pub(crate) fn is_given(&self, key: &str) -> bool {
        self.origins.iter().any(|(of, source)| *of == key && !matches!(source, Source::Default | Source::Stored))
    }

    /// Refuses priorities that have no effect under the chosen order. Those that a stronger layer overrides by
    /// another order, or that an earlier run was given, may stay.
    ///
    /// # Errors
    /// A fault that says what to do.
    pub fn refuse_idle_priorities(&self) -> Result<(), ConfigFaults> {
        let frontier = &self.settings.frontier;
        let source = |key| self.origins.iter().find(|(of, _)| *of == key).map(|(_, source)| source);
        let is_idle = frontier.order != OrderChoice::Best && !frontier.priority.is_empty();
        let given = source(PRIORITIES).filter(|source| !matches!(source, Source::Default | Source::Stored));
        let problem = "priorities have an effect only with the order \"best\": set it (--order best, or order = \"best\" \
                       in [frontier]), or leave the priorities out";
        let fault = given.filter(|given| is_idle && source(ORDER).is_none_or(|order| order <= *given));
        ConfigFaults::check(fault.map(|given| ConfigFault::new(given.place(PRIORITIES), problem)).into_iter().collect())
    }
}

/// The fault of a variable that was meant to be a key's.
fn unknown_variable(name: &str) -> Option<ConfigFault> {
    let keys = || RawSettings::keys().iter();
    let as_key = name.trim_start_matches("WEBLOOM_").to_ascii_lowercase();
    let near = nearest(&as_key, keys().map(|key| key.replace('.', "_")));
    let in_section =
        |key: &String| key.split_once('.').is_some_and(|(table, _)| as_key.starts_with(&format!("{table}_")));
    // Somebody left the section out.
    let bare = keys().find(|key| key.split_once('.').is_some_and(|(_, bare)| bare == as_key));
    let near = bare.cloned().or(near);
    let ours = (near.is_some() || keys().any(in_section)) && !DROPPED.iter().any(|key| variable(key) == name);
    ours.then(|| ConfigFault::unknown(name, "variable", near.map(|near| variable(&near))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn var(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    fn faults(layers: &Layers) -> Vec<String> {
        layers.resolve().unwrap_err().faults().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn stronger_layers_win_whatever_the_order_of_calls() {
        let mut flag = RawSettings::default();
        flag.retry.attempts = Some(RawValue::text("1"));
        let toml = |n: u32| format!("[retry]\nattempts = {n}");
        assert_eq!(Layers::new().resolve().unwrap().settings.retry.attempts, 4);
        let mut layers = Layers::new().profile("focused");
        let mut all = vec![layers.resolve().unwrap().settings.retry.attempts];
        for step in 0..4 {
            layers = match step {
                0 => layers.stored(&toml(9)),
                1 => layers.file_text("f", &toml(8)),
                2 => layers.variables([var("WEBLOOM_RETRY_ATTEMPTS", "7")]),
                _ => layers.flags(&flag),
            };
            all.push(layers.resolve().unwrap().settings.retry.attempts);
        }
        assert_eq!(all, [6, 9, 8, 7, 1]);
        let backwards = Layers::new().flags(&flag).file_text("f", &toml(8)).stored(&toml(9)).profile("focused");
        assert_eq!(backwards.resolve().unwrap().settings.retry.attempts, 1);
    }

    #[test]
    fn reports_all_faults_at_once_with_their_places() {
        let mut flags = RawSettings::default();
        flags.budget.max_pages = Some(RawValue::text("many"));
        let found = faults(
            &Layers::new()
                .profile("museum")
                .file(Path::new("/nowhere/webloom.toml"))
                .file_text(
                    "a.toml",
                    "[budget]\nmax_pages = 0\nmax_dept = 1\n[scope]\nkind = \"web\"\ninclude = [\"(\"]",
                )
                .variables([var("WEBLOOM_POLITENESS_DELAY", "soon"), var("WEBLOOM_CACHE_SIZE", "1")])
                .flags(&flags),
        );
        let number = "give a whole number from 1 to 9223372036854775807, or \"unlimited\"";
        let expected = [
            "profile museum: unknown profile; this version has focused, revisit, broad, container".to_owned(),
            "/nowhere/webloom.toml: cannot read the settings: No such file or directory (os error 2)".to_owned(),
            "a.toml: budget.max_dept: unknown key, did you mean budget.max_depth?".to_owned(),
            "WEBLOOM_CACHE_SIZE: unknown variable, see `webloom config default` for all of them".to_owned(),
            "a.toml: scope.kind: \"web\" is not allowed: give \"host\" or \"domain\" or \"prefix\" or \"any\""
                .to_owned(),
            "a.toml: scope.include: [\"(\"] is not allowed: entry 1: unclosed group; give a regular expression"
                .to_owned(),
            format!("a.toml: budget.max_pages: 0 is not allowed: {number}"),
            format!("--max-pages: \"many\" is not allowed: {number}"),
            "WEBLOOM_POLITENESS_DELAY: \"soon\" is not allowed: give a duration from 0s to 1d, or \"auto\"".to_owned(),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_an_earlier_version_knew_is_no_fault_and_no_setting() {
        let given = [("WEBLOOM_ROBOTS_RETRIES".into(), "3".into())];
        let stored = r#"{"robots":{"retries":3,"backoff":"2s","max_age":"2h"}}"#;
        let layers = Layers::new().variables(given).file_text("f", "[robots]\nbackoff = \"1s\"").stored(stored);
        assert_eq!(layers.resolve().unwrap().settings.robots.max_age.as_secs(), 7_200);
    }

    #[test]
    fn every_key_has_a_variable() {
        for key in RawSettings::keys() {
            let layers = Layers::new().variables([var(&variable(key), "(\t(")]);
            assert!(faults(&layers)[0].starts_with(&format!("{}: ", variable(key))), "{key}");
        }
    }

    #[test]
    fn lists_in_variables_have_one_entry_a_line() {
        let layers =
            Layers::new().variables([var("WEBLOOM_SCOPE_EXCLUDE", "a,b\n\n c \n"), var("WEBLOOM_LOG_LEVEL", "")]);
        let resolved = layers.resolve().unwrap();
        let patterns: Vec<_> = resolved.settings.scope.exclude.iter().map(regex::Regex::as_str).collect();
        assert_eq!(patterns, ["a,b", "c"]);
    }

    #[test]
    fn leaves_foreign_variables_alone() {
        let foreign = [var("WEBLOOM_SERVICE_HOST", "x"), var("WEBLOOM_PORT", "tcp://x"), var("PATH", "/")];
        Layers::new().variables(foreign).resolve().unwrap();
        let typo = faults(&Layers::new().variables([var("WEBLOOM_BUGDET_MAX_PAGES", "1")]));
        assert_eq!(typo, ["WEBLOOM_BUGDET_MAX_PAGES: unknown variable, did you mean WEBLOOM_BUDGET_MAX_PAGES?"]);
    }

    #[test]
    fn effective_settings_resolve_to_themselves() {
        for (name, _) in PROFILES {
            let mut first = Layers::new().profile(name).resolve().unwrap().effective;
            // That of a run is not the next one's.
            first.log = Layers::new().resolve().unwrap().effective.log;
            let again = Layers::new().stored(&first.to_json()).resolve().unwrap().effective;
            assert_eq!(first, again, "{name}");
        }
        let stored = "[log]\nlevel = \"trace\"";
        assert_eq!(Layers::new().stored(stored).resolve().unwrap().settings.log.level, "info");
    }

    #[test]
    fn priorities_need_the_order_that_uses_them() {
        let idle = "f: frontier.priority: priorities have an effect only with the order \"best\": set it (--order best, \
                    or order = \"best\" in [frontier]), or leave the priorities out";
        for order in ["", "order = \"depth\""] {
            let file = format!("[frontier]\npriority = [\"a=2\"]\n{order}");
            let given = Layers::new().file_text("f", &file).resolve().unwrap();
            assert_eq!(given.refuse_idle_priorities().unwrap_err().to_string(), idle, "{order}");
        }
        let mut flags = RawSettings::default();
        flags.frontier.order = Some(RawValue::text("breadth"));
        let both = "[frontier]\norder = \"best\"\npriority = [\"a=2\"]";
        let other_order = Layers::new().file_text("f", both).flags(&flags).resolve().unwrap();
        other_order.refuse_idle_priorities().unwrap();
        assert_eq!(other_order.settings.frontier.order, OrderChoice::Breadth);
        let stored = Layers::new().stored(&other_order.effective.to_json());
        let kept = stored.resolve().unwrap();
        kept.refuse_idle_priorities().unwrap();
        assert_eq!(kept.settings.frontier.priority.len(), 1);
        let again = stored.file_text("f", "[frontier]\npriority = [\"a=2\"]").resolve().unwrap();
        again.refuse_idle_priorities().unwrap_err();
    }
}
