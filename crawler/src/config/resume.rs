//! Which settings may change when a crawl is resumed.
//!
//! Within a sequence, finished pages are not read again, and URLs that were refused are gone. So a setting that would
//! let more URLs in is refused within a sequence; all others (delays, budgets, concurrency, a narrower scope) apply at
//! once. A new sequence may have any settings but other rules of keys: those are fixed when the directory is made.

use super::{
    CanonicalChoice, CheckChoice, ConfigFault, ConfigFaults, FormsChoice, ListsChoice, NofollowChoice, Resolved,
    ScopeKind, Settings, Source, secret,
};

/// A key whose value differs from the stored one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedKey {
    /// `politeness.delay`.
    pub key: &'static str,
    /// The stored value, as TOML writes it; secrets are hidden.
    pub before: String,
    /// The new value.
    pub after: String,
}

/// Compares the settings a crawl directory holds with those its sequence is to go on with. `[log]` belongs to a run and
/// does not count.
///
/// ```
/// use webloom::internals::config::{Layers, resume_check};
/// let stored = Layers::new().resolve()?;
/// let new = Layers::new().stored(&stored.effective.to_json()).file_text("f", "[politeness]\ndelay = 0").resolve()?;
/// assert_eq!(resume_check(&stored, &new)?[0].key, "politeness.delay");
/// # Ok::<(), webloom::internals::config::ConfigFaults>(())
/// ```
///
/// # Errors
/// A fault for each key that makes the scope wider, with the way to do it.
pub fn resume_check(stored: &Resolved, new: &Resolved) -> Result<Vec<ChangedKey>, ConfigFaults> {
    let changed = changed_keys(stored, new);
    let mut faults = Vec::new();
    for (key, source) in &new.origins {
        let change = changed.iter().find(|change| change.key == *key);
        if let Some(change) = change.filter(|_| is_wider(key, &stored.settings, &new.settings)) {
            faults.push(wider(&source.place(key), change));
        }
    }
    ConfigFaults::check(faults)?;
    Ok(changed)
}

impl Resolved {
    /// Refuses rules of keys that are given with this start and differ from those with which the crawl directory was made.
    ///
    /// # Errors
    /// A fault for each key that differs, with the rules that the directory has.
    pub fn refuse_other_keys(&self, stored: &Self) -> Result<(), ConfigFaults> {
        let (old, new) = (&stored.settings.key.rules, &self.settings.key.rules);
        if old == new {
            return Ok(());
        }
        let (old_values, new_values) = (stored.effective.to_flat(), self.effective.to_flat());
        let is_given = |(key, source): &&(&'static str, Source)| {
            key.starts_with("key.") && *source > Source::Stored && old_values[*key] != new_values[*key]
        };
        let problem = |key: &str| {
            let (before, after) = (&old_values[key], &new_values[key]);
            format!(
                "{after} is not the stored {before}, and the rules that make keys are fixed when a crawl directory is made: \
                 this one has {}; leave this out, or crawl into a new directory (--dir)",
                old.described()
            )
        };
        let fault = |(key, source): &(&'static str, Source)| ConfigFault::new(source.place(key), problem(key));
        ConfigFaults::check(self.origins.iter().filter(is_given).map(fault).collect())
    }
}

/// The same for a sequence that begins, in which every page is read anew: nothing is refused.
pub fn changed_keys(stored: &Resolved, new: &Resolved) -> Vec<ChangedKey> {
    let (old_values, new_values) = (stored.effective.to_flat(), new.effective.to_flat());
    let keys = new.origins.iter().map(|(key, _)| *key).filter(|key| !key.starts_with("log."));
    let different = keys.filter(|key| old_values[*key] != new_values[*key]);
    different
        .map(|key| {
            let [before, after] = [&old_values, &new_values].map(|values| secret::shown(key, &values[key]));
            ChangedKey { key, before, after }
        })
        .collect()
}

/// Whether this key lets URLs in that the old settings refused or left out.
fn is_wider(key: &str, old: &Settings, new: &Settings) -> bool {
    let within = |some: &[regex::Regex], all: &[regex::Regex]| {
        some.iter().all(|one| all.iter().any(|other| other.as_str() == one.as_str()))
    };
    match key {
        "scope.kind" => reach(new.scope.kind) > reach(old.scope.kind),
        "scope.include" => {
            let (old, new) = (&old.scope.include, &new.scope.include);
            !old.is_empty() && (new.is_empty() || !within(new, old))
        }
        "scope.exclude" => !within(&old.scope.exclude, &new.scope.exclude),
        "scope.max_url_length" => new.scope.max_url_length > old.scope.max_url_length,
        "check.assets" => new.check.assets == CheckChoice::On,
        "check.anchors" => new.check.anchors == CheckChoice::On,
        "sources.sitemaps" => new.sources.sitemaps == ListsChoice::On,
        "sources.feeds" => new.sources.feeds == ListsChoice::On,
        "extract.nofollow" => new.extract.nofollow == NofollowChoice::Follow,
        "sources.forms" => new.sources.forms == FormsChoice::On,
        "sources.canonical" => new.sources.canonical == CanonicalChoice::Follow,
        _ => false,
    }
}

/// The kinds of scope in their order: each one has the URLs of those before it.
fn reach(kind: ScopeKind) -> u8 {
    match kind {
        ScopeKind::Prefix => 0,
        ScopeKind::Host => 1,
        ScopeKind::Domain => 2,
        ScopeKind::Any => 3,
    }
}

fn wider(place: &str, ChangedKey { key, before, after }: &ChangedKey) -> ConfigFault {
    if key.starts_with("check.") {
        let again = "what finished pages show and load is not kept: crawl the site again (--again), or into a new directory (--dir)";
        return ConfigFault::new(place, again);
    }
    let problem = format!(
        "{after} is a wider scope than the stored {before}, and the links of finished pages that were out of scope are \
         not kept: crawl the site again (--again), crawl into a new directory (--dir), or keep {before}"
    );
    ConfigFault::new(place, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, RawSettings, RawValue};

    fn check(old: &str, new: &str) -> Result<Vec<ChangedKey>, ConfigFaults> {
        let stored = Layers::new().file_text("old", old).resolve().unwrap();
        let new = Layers::new().stored(&stored.effective.to_json()).file_text("new", new).resolve().unwrap();
        resume_check(&stored, &new)
    }

    #[test]
    fn equal_settings_are_no_change() {
        assert_eq!(check("[politeness]\ndelay = \"60s\"", "[politeness]\ndelay = \"1m\""), Ok(vec![]));
        assert_eq!(check("", "[log]\nlevel = \"debug\""), Ok(vec![]));
    }

    #[test]
    fn a_wider_scope_is_refused() {
        for (old, new) in [
            ("kind = \"prefix\"", "kind = \"host\""),
            ("kind = \"host\"", "kind = \"domain\""),
            ("kind = \"domain\"", "kind = \"any\""),
            ("kind = \"prefix\"", "kind = \"any\""),
            ("include = [\"a\"]", "include = []"),
            ("include = [\"a\"]", "include = [\"a\", \"b\"]"),
            ("include = [\"a\"]", "include = [\"c\"]"),
            ("exclude = [\"a\", \"b\"]", "exclude = [\"b\"]"),
            ("max_url_length = 100", "max_url_length = 101"),
        ] {
            let faults = check(&format!("[scope]\n{old}"), &format!("[scope]\n{new}")).unwrap_err();
            let key = old.split(' ').next().unwrap();
            assert!(faults.to_string().starts_with(&format!("new: scope.{key}: ")), "{faults}");
            assert!(["--again", "--dir"].iter().all(|way| faults.to_string().contains(way)), "{faults}");
        }
        check("[extract]\nnofollow = \"obey\"", "[extract]\nnofollow = \"follow\"").unwrap_err();
        check("", "[sources]\nforms = \"on\"").unwrap_err();
        check("", "[sources]\ncanonical = \"follow\"").unwrap_err();
        check("[sources]\nsitemaps = \"off\"", "[sources]\nsitemaps = \"on\"").unwrap_err();
        check("", "[sources]\nfeeds = \"off\"").unwrap();
    }

    fn keys(stored: &str, file: &str) -> Result<(), String> {
        let stored = Layers::new().stored(stored);
        let new = stored.clone().file_text("f", &format!("[key]\n{file}")).resolve().unwrap();
        new.refuse_other_keys(&stored.resolve().unwrap()).map_err(|faults| faults.to_string())
    }

    #[test]
    fn rules_of_keys_are_fixed() {
        let defaults = Layers::new().resolve().unwrap().effective.to_json();
        let sorting = Layers::new().file_text("f", "[key]\nrules = ['sort-query']\nstrip_query = 'b,a'").resolve();
        let sorting = sorting.unwrap().effective.to_json();
        for (stored, same) in [
            (&*defaults, ""),
            (&defaults, "rules = ['empty-query', 'hex-case', 'unreserved']"),
            (&defaults, "tracking = ['x']"),
            (&sorting, "strip_query = ['a', 'b']"),
            ("{}", ""),
            ("{}", "rules = []"),
        ] {
            assert_eq!(keys(stored, same), Ok(()), "{same}");
        }
        for (stored, other, has) in [
            (&*defaults, "rules = []", "f: key.rules: [] is not the stored [\"unreserved\", "),
            (&defaults, "strip_query = 'a'", "this one has unreserved, hex-case, empty-query; leave"),
            (&sorting, "strip_query = 'a'", "f: key.strip_query: [\"a\"] is not the stored [\"b,a\"], and the rules"),
            ("{}", "rules = ['www']", "are fixed when a crawl directory is made: this one has none; leave this out"),
        ] {
            let refused = keys(stored, other).unwrap_err();
            assert!(refused.contains(has) && refused.lines().count() == 1, "{refused}");
        }
    }

    #[test]
    fn a_sequence_that_begins_may_be_wider() {
        let stored = Layers::new().file_text("old", "[scope]\nkind = \"prefix\"").resolve().unwrap();
        let new =
            Layers::new().file_text("new", "[scope]\nkind = \"host\"\n[log]\nlevel = \"debug\"").resolve().unwrap();
        let keys: Vec<_> = changed_keys(&stored, &new).into_iter().map(|change| change.key).collect();
        assert_eq!(keys, ["scope.kind"]);
    }

    #[test]
    fn a_narrower_scope_and_the_rest_apply() {
        for (old, new) in [
            ("kind = \"host\"", "kind = \"prefix\""),
            ("kind = \"domain\"", "kind = \"host\""),
            ("kind = \"any\"", "kind = \"domain\""),
            ("include = []", "include = [\"a\"]"),
            ("include = [\"a\", \"b\"]", "include = [\"b\"]"),
            ("exclude = [\"a\"]", "exclude = [\"b\", \"a\"]"),
            ("max_url_length = 101", "max_url_length = 100"),
        ] {
            let changed = check(&format!("[scope]\n{old}"), &format!("[scope]\n{new}")).unwrap();
            assert_eq!(changed.len(), 1, "{new}");
        }
        let changed = check("", "[budget]\nmax_pages = 7\n[cache]\nhash_seed = \"ab\"\n[extract]\nnofollow = \"obey\"");
        let keys: Vec<_> = changed.unwrap().into_iter().map(|change| (change.key, change.after)).collect();
        let expected = [("budget.max_pages", "7"), ("extract.nofollow", "\"obey\""), ("cache.hash_seed", "(secret)")];
        assert_eq!(keys, expected.map(|(key, value)| (key, value.to_owned())));
    }

    #[test]
    fn the_flag_is_named() {
        let stored = Layers::new().file_text("f", "[scope]\nkind = \"prefix\"").resolve().unwrap();
        let mut flags = RawSettings::default();
        flags.scope.kind = Some(RawValue::text("host"));
        let faults = resume_check(&stored, &Layers::new().flags(&flags).resolve().unwrap()).unwrap_err();
        assert!(faults.to_string().starts_with("--scope: \"host\" is a wider scope"), "{faults}");
    }
}
