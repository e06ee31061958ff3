//! Settings as text: TOML and JSON, read with all their faults, and written.

use std::sync::LazyLock;

use serde_json::Value;

use super::{
    ConfigFault, ConfigFaults, RawSettings, RawValue, Source,
    fault::nearest,
    priority,
    schema::{self, Flat},
    secret, section,
    settings::{FIELDS, PRIORITIES, URL_SECTIONS},
};

/// `config/default.toml`: every key with its unit, default and consequence.
pub const DEFAULT_TOML: &str = include_str!("../../../config/default.toml");

/// The profiles by name: each holds only what differs from [`DEFAULT_TOML`].
pub const PROFILES: &[(&str, &str)] = &[
    ("focused", include_str!("../../../config/focused.toml")),
    ("revisit", include_str!("../../../config/revisit.toml")),
    ("broad", include_str!("../../../config/broad.toml")),
    ("container", include_str!("../../../config/container.toml")),
];

/// Keys that earlier versions had. They have no effect, and are no fault: crawl directories and scripts hold them.
pub(super) const DROPPED: [&str; 2] = ["robots.retries", "robots.backoff"];

/// The names of arrays of tables, each with the key whose list it is.
const TABLES: [(&str, &str); 2] = [(priority::TABLES.name, PRIORITIES), (section::TABLES.name, URL_SECTIONS)];

/// Short names, of which a text or the variables may give one instead of the key.
const SHORT: [(&str, &str); 1] = [("text", "change.text")];

/// The key of a name: itself, unless it is a short one.
pub(super) fn full_key(name: &str) -> &str {
    SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, key)| key)
}

/// The short name of a key, where it has one.
pub(super) fn short_name(key: &str) -> Option<&'static str> {
    SHORT.iter().find(|(_, of)| *of == key).map(|(short, _)| *short)
}

/// What a text said: the usable values, and what is wrong with the rest.
pub(super) struct Document {
    pub(super) values: Flat,
    pub(super) faults: Vec<ConfigFault>,
}

impl Document {
    /// Reads TOML, or JSON when the text begins with a brace.
    pub(super) fn parse(text: &str, source: &Source) -> Self {
        let tree = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            toml::from_str::<Value>(text).map_err(|error| toml_problem(text, &error))
        };
        let mut document = Self { values: Flat::new(), faults: Vec::new() };
        match tree {
            Ok(Value::Object(tables)) => {
                tables.into_iter().for_each(|(name, value)| document.read_table(source, &name, value));
            }
            Ok(_) => document.faults.push(ConfigFault::new(source.to_string(), "not a table of settings")),
            Err(problem) => document.faults.push(ConfigFault::new(source.to_string(), problem)),
        }
        document
    }

    fn read_table(&mut self, source: &Source, table: &str, value: Value) {
        match value {
            value if table == priority::TABLES.name => {
                self.read_tables(source, PRIORITIES, priority::TABLES.read(source, value));
            }
            value if table == section::TABLES.name => {
                self.read_tables(source, URL_SECTIONS, section::TABLES.read(source, value));
            }
            Value::Object(keys) if !keys.is_empty() => {
                keys.into_iter().for_each(|(key, value)| self.read_key(source, &format!("{table}.{key}"), value));
            }
            Value::Object(_) if RawSettings::keys().iter().any(|key| key.starts_with(&format!("{table}."))) => {}
            _ => self.read_key(source, table, value),
        }
    }

    /// An array of tables is another way to write a list.
    fn read_tables(&mut self, source: &Source, key: &str, read: Result<RawValue, Vec<ConfigFault>>) {
        match read {
            Ok(list) => self.set(source, key, list),
            Err(mut faults) => self.faults.append(&mut faults),
        }
    }

    fn set(&mut self, source: &Source, name: &str, value: RawValue) {
        let place = source.place(name);
        if self.values.insert(name.to_owned(), value).is_some() {
            let twice = match TABLES.iter().find(|(_, key)| *key == name) {
                Some((table, _)) => format!("give this list once: as [[{table}]] or here"),
                None => "give it once: by its short name or here".to_owned(),
            };
            self.faults.push(ConfigFault::new(place, twice));
        }
    }

    fn read_key(&mut self, source: &Source, name: &str, value: Value) {
        let known = RawSettings::keys();
        if DROPPED.contains(&name) {
            return;
        }
        let key = full_key(name);
        if !known.iter().any(|one| one == key) {
            let names = known.iter().cloned().chain(TABLES.map(|(table, _)| table.to_owned()));
            self.faults.push(ConfigFault::unknown(source.place(key), "key", nearest(key, names)));
        } else if !value.is_null() {
            match schema::read(if key == FIELDS { listed(value) } else { value }) {
                Some(value) => self.set(source, key, value),
                None => self
                    .faults
                    .push(ConfigFault::new(source.place(key), "give a string, a number or a list of strings")),
            }
        }
    }
}

/// A table of fields as the list that it is.
fn listed(value: Value) -> Value {
    let Value::Object(fields) = value else { return value };
    let rules = fields.into_iter().map(|(name, css)| match css {
        Value::String(css) => Value::String(format!("{name}={css}")),
        other => other,
    });
    rules.collect()
}

/// `default.toml`, read once.
pub(super) fn defaults() -> &'static Flat {
    static DEFAULTS: LazyLock<Flat> = LazyLock::new(|| Document::parse(DEFAULT_TOML, &Source::Default).values);
    &DEFAULTS
}

/// Settings that anybody may see, or how they begin.
const OPEN: [&str; 15] = [
    "archive.",
    "budget.",
    "check.",
    "extract.max_links",
    "extract.nofollow",
    "fetch.max_",
    "fetch.min_rate",
    "fetch.types",
    "key.",
    "politeness.",
    "robots.",
    "scope.",
    "sources.canonical",
    "sources.feeds",
    "sources.sitemaps",
];

impl RawSettings {
    /// One line of JSON, secrets included: for the crawl directory's database alone.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("settings have only texts and numbers")
    }

    /// One line of JSON for whoever gets what was crawled: what differs from the defaults, of what says which pages there are. Nothing of this
    /// machine, its network and its log-ins is in it.
    pub fn to_open_json(&self) -> String {
        let mut values = self.to_flat();
        values.retain(|key, value| OPEN.iter().any(|open| key.starts_with(open)) && defaults().get(key) != Some(value));
        serde_json::to_string(&values).expect("settings have only texts and numbers")
    }

    /// Reads what [`RawSettings::to_json`] wrote (or TOML).
    ///
    /// # Errors
    /// All that is wrong with the text: its form, unknown keys, values that no key takes.
    pub fn from_json(text: &str) -> Result<Self, ConfigFaults> {
        let document = Document::parse(text, &Source::Stored);
        ConfigFaults::check(document.faults)?;
        Ok(Self::from_flat(document.values))
    }

    /// TOML for people (`crawl.toml`). Secrets are left out, and a comment names their keys.
    pub fn to_toml(&self) -> String {
        let (open, left_out) = secret::without_secrets(self);
        let secrets = match &*left_out {
            [] => String::new(),
            keys => format!("# Left out because they are secret: {}.\n", keys.join(", ")),
        };
        let settings = toml::to_string(&open).expect("settings have only texts and numbers");
        format!(
            "# A copy of the settings of the crawl, for people. Webloom writes it and never reads it.\n{secrets}\n{settings}"
        )
    }
}

/// A syntax error with its line.
fn toml_problem(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start].lines().count().max(1));
    line.map_or_else(|| error.message().to_owned(), |line| format!("line {line}: {}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{RawValue, SecretValue};

    fn faults(text: &str) -> Vec<String> {
        let file = Source::File("a.toml".into());
        Document::parse(text, &file).faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn default_toml_holds_every_key_and_nothing_else() {
        assert_eq!(faults(DEFAULT_TOML), Vec::<String>::new());
        let held: Vec<_> = defaults().keys().cloned().collect();
        assert_eq!(held, RawSettings::keys());
    }

    #[test]
    fn profiles_hold_only_differences() {
        for (name, text) in PROFILES {
            let profile = Document::parse(text, &Source::Profile((*name).to_owned()));
            assert_eq!((profile.faults, profile.values.is_empty()), (vec![], false), "{name}");
            assert!(profile.values.iter().all(|(key, value)| defaults()[key] != *value), "{name}");
        }
    }

    #[test]
    fn names_every_unknown_key_and_the_nearest_known_one() {
        let text = "max_pages = 1\n[budget]\nmax_depht = 2\n[scop]\nkind = \"host\"\n[colours]\n[log]\n";
        let mut found = faults(text);
        found.sort();
        let expected = [
            "a.toml: budget.max_depht: unknown key, did you mean budget.max_depth?",
            "a.toml: colours: unknown key, see `webloom config default` for all of them",
            "a.toml: max_pages: unknown key, did you mean budget.max_pages?",
            "a.toml: scop.kind: unknown key, did you mean scope.kind?",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_line_or_key_of_what_it_cannot_read() {
        assert!(faults("[log]\nlevel = \n")[0].starts_with("a.toml: line 2: "));
        let expected = "a.toml: log.level: give a string, a number or a list of strings";
        for value in ["true", "{ a = 1 }", "[[1]]", "2020-01-01"] {
            assert_eq!(faults(&format!("[log]\nlevel = {value}\n")), [expected], "{value}");
        }
        assert_eq!(faults("{"), ["a.toml: EOF while parsing an object at line 1 column 1"]);
    }

    #[test]
    fn crawl_toml_has_no_secrets_and_json_has_all() {
        let mut raw = RawSettings::from_flat(defaults().clone());
        let headers = ["Authorization: Bearer x1y2", "X-Team: docs"].map(str::to_owned);
        raw.fetch.headers = Some(SecretValue::new(RawValue::List(headers.into())));
        raw.cache.hash_seed = Some(SecretValue::new(RawValue::text("c0ffee")));
        let toml = raw.to_toml();
        assert!(!toml.contains("x1y2") && !toml.contains("c0ffee"), "{toml}");
        assert!(toml.contains("secret: cache.hash_seed, fetch.headers.") && toml.contains("X-Team: docs"), "{toml}");
        assert_eq!(faults(&toml), Vec::<String>::new());
        raw.archive.format = Some(RawValue::text("warc"));
        raw.sources.sitemap = Some(RawValue::List(vec!["https://user:word@h/sitemap.xml".to_owned()]));
        raw.fetch.cookies = Some(RawValue::text("/home/me/cookies.txt"));
        assert_eq!(raw.to_open_json(), r#"{"archive.format":"warc"}"#);
        assert_eq!(RawSettings::from_json(&raw.to_json()).unwrap(), raw);
    }
}
