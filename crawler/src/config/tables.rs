//! Arrays of tables (`[[priority]]`, `[[section]]`): another way in which a file gives a list.
//!
//! Does not know: what the keys of a table mean.

use serde_json::{Map, Value};

use super::{ConfigFault, RawValue, Source, fault::nearest};

/// The keys of a table.
type Keys = Map<String, Value>;

/// The key of a table that is wrong, and why.
type KeyFault = (&'static str, String);

/// Arrays of tables of one name, each an entry of a list.
pub(super) struct ArrayOfTables<T> {
    /// Their name.
    pub(super) name: &'static str,
    /// What a table may hold.
    pub(super) keys: &'static [&'static str],
    /// The same in words.
    pub(super) holds: &'static str,
    /// The entry that a table is, behind others, or which key is wrong and why.
    pub(super) entry: fn(&[T], &Keys) -> Result<T, KeyFault>,
    /// How an entry is written in the list.
    pub(super) written: fn(&T) -> String,
}

impl<T> ArrayOfTables<T> {
    /// The list that the tables are, or what is wrong with each.
    pub(super) fn read(&self, source: &Source, value: Value) -> Result<RawValue, Vec<ConfigFault>> {
        let Self { name, holds, .. } = self;
        let Value::Array(tables) = value else {
            let problem = format!("write [[{name}]] with {holds}, once for each pattern");
            return Err(vec![ConfigFault::new(source.place(name), problem)]);
        };
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        for (at, table) in tables.into_iter().enumerate() {
            let place = source.place(&format!("[[{name}]] entry {}", at + 1));
            match table {
                Value::Object(keys) => match self.one(&entries, &keys, &place) {
                    Ok(entry) => entries.push(entry),
                    Err(mut found) => faults.append(&mut found),
                },
                _ => faults.push(ConfigFault::new(place, format!("give a table with {holds}"))),
            }
        }
        if faults.is_empty() { Ok(RawValue::List(entries.iter().map(self.written).collect())) } else { Err(faults) }
    }

    fn one(&self, others: &[T], keys: &Keys, place: &str) -> Result<T, Vec<ConfigFault>> {
        let unknown = keys.keys().filter(|key| !self.keys.contains(&key.as_str()));
        let near = |key: &str| nearest(key, self.keys.iter().map(|&known| known.to_owned()));
        let faults: Vec<_> =
            unknown.map(|key| ConfigFault::unknown(format!("{place}: {key}"), "key", near(key))).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        (self.entry)(others, keys).map_err(|(key, why)| vec![ConfigFault::new(format!("{place}: {key}"), why)])
    }
}

/// The text that a table has under this key.
pub(super) fn text<'a>(keys: &'a Keys, key: &str) -> Option<&'a str> {
    keys.get(key)?.as_str().map(str::trim)
}
