//! [`KeyReader`]: takes each key's value from the strongest layer that has one, and checks all of them.

use super::{
    ConfigFault, RawValue, Source,
    rules::{Checked, Rule},
    schema::Flat,
};

/// The values of one layer.
#[derive(Clone)]
pub(super) struct Layer {
    pub(super) source: Source,
    pub(super) values: Flat,
}

/// One key as it was read.
pub(super) struct KeyRead {
    pub(super) key: &'static str,
    pub(super) allowed: String,
    pub(super) value: RawValue,
    pub(super) source: Source,
}

/// Reads keys from layers, the weakest first. A fault is noted and the next weaker value taken, so that reading goes
/// on.
pub(super) struct KeyReader<'a> {
    layers: &'a [Layer],
    pub(super) faults: Vec<ConfigFault>,
    pub(super) keys: Vec<KeyRead>,
}

impl<'a> KeyReader<'a> {
    /// Reads from `layers`, of which the first holds a valid value for every key.
    pub(super) fn new(layers: &'a [Layer]) -> Self {
        Self { layers, faults: Vec::new(), keys: Vec::new() }
    }

    /// The value of `key`. Values that a stronger layer hides are checked too: a fault must not wait for its day.
    pub(super) fn read<R: Rule>(&mut self, key: &'static str, rule: &R) -> R::Value {
        let mut chosen: Option<(Checked<R::Value>, &Source)> = None;
        for layer in self.layers {
            let Some(raw) = layer.values.get(key) else { continue };
            match rule.check(raw) {
                Ok(checked) => chosen = Some((checked, &layer.source)),
                Err(reason) => self.faults.push(ConfigFault::value(&layer.source, key, raw, &reason)),
            }
        }
        let (checked, source) = chosen.expect("default.toml has a valid value for every key");
        let source = source.clone();
        self.keys.push(KeyRead { key, allowed: rule.allowed(), value: checked.canonical, source });
        checked.value
    }
}
