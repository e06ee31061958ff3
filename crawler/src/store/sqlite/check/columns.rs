//! What each value must be by itself: each table is read once, row by row.
//!
//! Owns: comparing values with the rules of their columns.
//!
//! Does not know: how rows fit together.

use std::{collections::BTreeMap, net::IpAddr, ops::RangeInclusive};

use rusqlite::{
    Connection, Result, Row,
    types::{Type, ValueRef},
};

use crate::{
    health::FailureCause,
    store::Finding,
    url::{Canonicalizer, WebUrl},
};

pub(super) const READABLE: &str = "every value has the type of its column";
pub(super) const ALLOWED: &str = "every value is one that its column may have";

/// The first bytes of what zstd has compressed.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Seconds, and more of them than there can be.
const REALS: RangeInclusive<f64> = 0.0..=1e15;

/// A table.
pub(super) struct CheckedTable {
    pub(super) name: &'static str,
    /// The first of them names a row.
    pub(super) columns: Vec<CheckedColumn>,
}

/// A column.
pub(super) struct CheckedColumn {
    pub(super) name: &'static str,
    pub(super) kind: ValueKind,
    pub(super) is_optional: bool,
}

/// What a column holds.
pub(super) enum ValueKind {
    Number(RangeInclusive<i64>),
    /// Not below 0.
    Real,
    Text,
    /// One of these.
    Word(Vec<&'static str>),
    Url,
    /// An IP address.
    Address,
    Json,
    /// What a [`Canonicalizer`] is called.
    KeyRules,
    /// The word for a [`FailureCause`].
    Cause,
    Bytes,
    /// So many of them.
    Exactly(usize),
    /// Compressed.
    Packed,
}

/// What is wrong with a value.
type Fault = &'static str;

impl CheckedColumn {
    fn fault(&self, value: ValueRef<'_>) -> Option<Fault> {
        match value {
            ValueRef::Null if self.is_optional => None,
            ValueRef::Integer(number) => self.kind.fault_of_number(number),
            ValueRef::Real(number) => match self.kind {
                ValueKind::Real => (!REALS.contains(&number)).then_some(ALLOWED),
                _ => Some(READABLE),
            },
            ValueRef::Text(text) => {
                std::str::from_utf8(text).map_or(Some(READABLE), |text| self.kind.fault_of_text(text))
            }
            ValueRef::Blob(bytes) => self.kind.fault_of_bytes(bytes),
            ValueRef::Null => Some(READABLE),
        }
    }
}

impl ValueKind {
    fn fault_of_number(&self, number: i64) -> Option<Fault> {
        match self {
            Self::Number(range) => (!range.contains(&number)).then_some(ALLOWED),
            _ => Some(READABLE),
        }
    }

    fn fault_of_text(&self, text: &str) -> Option<Fault> {
        let is_right = match self {
            Self::Text => true,
            Self::Word(words) => words.contains(&text),
            Self::Url => WebUrl::parse(text).is_ok(),
            Self::Address => text.parse::<IpAddr>().is_ok(),
            Self::Json => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
            Self::KeyRules => Canonicalizer::named(text).is_ok(),
            Self::Cause => text.parse::<FailureCause>().is_ok(),
            _ => return Some(READABLE),
        };
        (!is_right).then_some(ALLOWED)
    }

    fn fault_of_bytes(&self, bytes: &[u8]) -> Option<Fault> {
        let is_right = match self {
            Self::Bytes => true,
            Self::Exactly(length) => bytes.len() == *length,
            Self::Packed => bytes.starts_with(&ZSTD),
            _ => return Some(READABLE),
        };
        (!is_right).then_some(ALLOWED)
    }
}

/// What is wrong with single values.
pub(super) fn findings(connection: &Connection, tables: &[CheckedTable]) -> Result<Vec<Finding>> {
    let mut faults = BTreeMap::new();
    for table in tables {
        read(connection, table, &mut faults)?;
    }
    let finding = |(invariant, (count, example))| Finding { invariant, count, example };
    Ok(faults.into_iter().map(finding).collect())
}

fn read(connection: &Connection, table: &CheckedTable, faults: &mut BTreeMap<Fault, (u64, String)>) -> Result<()> {
    let CheckedTable { name, columns } = table;
    let names = columns.iter().map(|column| format!("\"{}\"", column.name)).collect::<Vec<_>>().join(", ");
    let mut select = connection.prepare(&format!("SELECT {names} FROM {name}"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        for (index, column) in columns.iter().enumerate() {
            let value = row.get_ref(index)?;
            if let Some(fault) = column.fault(value) {
                let example = || format!("{name} {}: {} is {}", row_name(row), column.name, shown(value));
                faults.entry(fault).or_insert_with(|| (0, example())).0 += 1;
            }
        }
    }
    Ok(())
}

/// How a row is called.
fn row_name(row: &Row<'_>) -> String {
    row.get_ref(0).map_or_else(|error| error.to_string(), shown)
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => format!("{:?}", String::from_utf8_lossy(text).chars().take(80).collect::<String>()),
        ValueRef::Blob(bytes) => format!("{} of {} bytes", Type::Blob, bytes.len()),
    }
}
