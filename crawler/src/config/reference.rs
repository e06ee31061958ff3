//! All settings with their defaults and present values, for `webloom config` and for the table in docs/settings.md.

use super::{
    DEFAULT_TOML, Layers, Resolved, Settings, Source, document,
    names::{flag, variable},
    reader::KeyReader,
    secret,
};

/// One key and how to set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceRow {
    /// `budget.max_pages`.
    pub key: &'static str,
    /// Its flag without the dashes, when it has one.
    pub flag: Option<&'static str>,
    /// `WEBLOOM_BUDGET_MAX_PAGES`.
    pub variable: String,
    /// Its value in `default.toml`, as TOML writes it.
    pub default: String,
    /// What is allowed, in words.
    pub allowed: String,
    /// Its comment in `default.toml`, as one line.
    pub comment: String,
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedKey {
    /// `budget.max_pages`.
    pub key: &'static str,
    /// As TOML writes it; secrets are hidden.
    pub value: String,
    /// `default`, `profile focused`, `stored`, `file NAME`, `variable NAME`, `flag --NAME`, or
    /// `flags` where several make it.
    pub origin: String,
}

/// Every key, in the order of `default.toml`.
///
/// ```
/// let rows = webloom::internals::config::reference();
/// let delay = rows.iter().find(|row| row.key == "politeness.delay").expect("the key exists");
/// assert_eq!((delay.flag, &*delay.variable, &*delay.default), (Some("delay"), "WEBLOOM_POLITENESS_DELAY", "\"1s\""));
/// ```
pub fn reference() -> Vec<ReferenceRow> {
    let layers = [super::reader::Layer { source: Source::Default, values: document::defaults().clone() }];
    let mut reader = KeyReader::new(&layers);
    Settings::read(&mut reader);
    let rows = reader.keys.into_iter().map(|read| ReferenceRow {
        key: read.key,
        flag: flag(read.key),
        variable: variable(read.key),
        default: document::defaults()[read.key].to_string(),
        allowed: read.allowed,
        comment: comment(read.key),
    });
    rows.collect()
}

impl Resolved {
    /// Every key with its value and where it came from, in the order of `default.toml`.
    pub fn describe(&self) -> Vec<DescribedKey> {
        let values = self.effective.to_flat();
        let rows = self.origins.iter().map(|(key, source)| DescribedKey {
            key,
            value: secret::shown(key, &values[*key]),
            origin: origin(source, key),
        });
        rows.collect()
    }
}

impl Layers {
    /// [`Resolved::describe`] of what these layers resolve to.
    ///
    /// # Errors
    /// All faults of all layers.
    pub fn describe(&self) -> Result<Vec<DescribedKey>, super::ConfigFaults> {
        Ok(self.resolve()?.describe())
    }
}

fn origin(source: &Source, key: &str) -> String {
    match source {
        Source::Default => "default".into(),
        Source::Profile(name) => format!("profile {name}"),
        Source::Stored => "stored".into(),
        Source::File(name) => format!("file {name}"),
        Source::Job(name) => format!("job {name}"),
        Source::Variables => format!("variable {}", source.place(key)),
        Source::Flags => flag(key).map_or_else(|| "flags".into(), |flag| format!("flag --{flag}")),
    }
}

/// The lines of comment above a key in `default.toml`.
fn comment(key: &str) -> String {
    let (table, key) = key.split_once('.').unwrap_or(("", key));
    let lines = DEFAULT_TOML.lines().skip_while(|line| *line != format!("[{table}]"));
    let mut block: Vec<&str> = Vec::new();
    for line in lines {
        match line.strip_prefix("# ") {
            Some(text) => block.push(text),
            None if line.starts_with(&format!("{key} = ")) => break,
            None => block.clear(),
        }
    }
    block.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{RawSettings, RawValue, SecretValue};

    #[test]
    fn has_every_key_once_in_the_order_of_the_file() {
        let rows = reference();
        let mut keys: Vec<_> = rows.iter().map(|row| row.key).collect();
        let at = |key: &str| {
            let (table, key) = key.split_once('.').unwrap();
            let table = DEFAULT_TOML.find(&format!("\n[{table}]")).unwrap();
            table + DEFAULT_TOML[table..].find(&format!("\n{key} = ")).unwrap()
        };
        assert!(keys.is_sorted_by_key(|key| at(key)), "{keys:?}");
        keys.sort_unstable();
        assert_eq!(keys, RawSettings::keys());
    }

    #[test]
    fn every_comment_has_unit_default_and_consequence() {
        for row in reference() {
            let (_, after) = row.comment.split_once(" Unit: ").unwrap_or_else(|| panic!("{} has no unit", row.key));
            let (_, after) = after.split_once(" Default: ").unwrap_or_else(|| panic!("{} has no default", row.key));
            let consequence = after.strip_prefix(&format!("{}. ", row.default));
            let consequence = consequence.unwrap_or_else(|| panic!("{}: {after} is not {}", row.key, row.default));
            assert!(consequence.len() > 15 && consequence.ends_with('.'), "{}: {consequence}", row.key);
        }
    }

    #[test]
    fn defaults_are_written_as_they_are_printed() {
        for (row, described) in reference().iter().zip(Layers::new().describe().unwrap()) {
            assert_eq!((row.key, &row.default), (described.key, &described.value));
            assert_eq!(described.origin, "default");
        }
    }

    #[test]
    fn describes_origins_and_hides_secrets() {
        let mut flags = RawSettings::default();
        flags.cache.hash_seed = Some(SecretValue::new(RawValue::text("abc")));
        let described = Layers::new()
            .profile("focused")
            .stored("[politeness]\ndelay = 3")
            .file_text("a.toml", "[budget]\nmax_pages = 5")
            .variables([("WEBLOOM_LOG_LEVEL".into(), "warn".into())])
            .flags(&flags)
            .describe()
            .unwrap();
        let of = |key: &str| {
            let found = described.iter().find(|row| row.key == key).unwrap();
            format!("{} from {}", found.value, found.origin)
        };
        assert_eq!(of("retry.attempts"), "6 from profile focused");
        assert_eq!(of("politeness.delay"), "\"3s\" from stored");
        assert_eq!(of("budget.max_pages"), "5 from file a.toml");
        assert_eq!(of("log.level"), "\"warn\" from variable WEBLOOM_LOG_LEVEL");
        assert_eq!(of("cache.hash_seed"), "(secret) from flag --hash-seed");
        assert_eq!(of("robots.max_age"), "\"1d\" from default");
    }
}
