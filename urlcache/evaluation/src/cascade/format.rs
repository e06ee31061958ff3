//! The two byte formats of a classifier.
//!
//! Owns them both. Numbers are little-endian, lengths count bytes.
//!
//! **The document's** (N. Van Steenbrugge, "Bloomfilter cascade"), for algorithms 1.0 and 2.0:
//!
//! | field | bytes |
//! |---|---|
//! | algorithm: 0 is 1.0, 1 is 2.0 | 1 |
//! | number of classes | 4 |
//! | for each class: length of its name, name | 1, as long |
//! | for each filter: number of functions k, their seeds, length of its bits, bits (bit 0 of a byte comes first) | 1, k, 4, as long |
//! | the end: 255 | 1 |
//! | length of the last class' name, name | 1, as long |
//!
//! An empty filter is one byte 0. Each class has one filter a round in algorithm 1.0, two in algorithm 2.0. The end may
//! come within a round. The document leaves the hash functions open; ours are xxh3-64 of the key with seed 0, then the
//! functions of the number of the filter and its seeds (see `bloom.rs`). It has no checksum: a changed bit goes unnoticed.
//!
//! **Version 2**, for all algorithms, with longer names, more than 4 GiB a filter, a hash seed and a checksum:
//!
//! | field | bytes |
//! |---|---|
//! | the mark `URLCLASS` | 8 |
//! | version: 2 | 4 |
//! | algorithm: 0 is 1.0, 1 is 2.0, 2 is compact | 1 |
//! | seed of the keys' hash, xxh3-64 | 8 |
//! | number of different keys that it was trained with | 8 |
//! | number of classes | 4 |
//! | for each class: length of its name, name | 8, as long |
//! | 1.0 and 2.0, for each filter: number of functions k, their seeds, length of its bits, bits | 1, k, 8, as long |
//! | 1.0 and 2.0, the end: 255, number of the last class (from 0) | 1, 4 |
//! | compact: number of sieves | 1 |
//! | compact, for each sieve: number of its class, retrieval structure | 4, as long |
//! | compact, for each class: bits of its code word + 64 times its part (0, 1 or 2), 255 for none | 1 |
//! | compact, if there are three parts: ternary retrieval structure | as long |
//! | compact, for each length at which code words end: retrieval structure | as long |
//! | xxh3-64 of all before it | 8 |
//!
//! A retrieval structure is the number of bits of its values r (1 byte), the number of its layers (1), and for each layer
//! the number of shards (8), the number of places of a shard (8), two bits for each 128 places, and r words of 8 bytes
//! for each 64 places. In a ternary one r is 1, and instead of the words there is a byte for each 5 places, their numbers
//! in base 3, the first place's the lowest digit.
//!
//! Invariants: a version-2 file begins with `U`, a file of the document with 0 or 1; whatever the bytes are, reading neither
//! panics nor allocates more than they justify; what is read answers as what was written.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of classes, and of what is bounded below 255, fit their fields; lengths were checked"
)]

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::bloom::Bloom;
use super::compact::{Compact, Fingerprints, MOST_SIEVES, Sieve, spans};
use super::huffman::Code;
use super::reader::{ReadError, Reader};
use super::ribbon::{Bits, Retrieval};
use super::steps::{Step, Steps};
use super::{Body, Classifier};

const MARK: &[u8; 8] = b"URLCLASS";

/// The version that is written, and the only one with a mark.
pub(super) const VERSION: u32 = 2;

/// What is written in the place of a number of functions.
const EMPTY: u8 = 0;
const END: u8 = 0xff;

const ONE: u8 = 0;
const TWO: u8 = 1;
const COMPACT: u8 = 2;

/// Why a classifier cannot be written in the document's format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// The format knows algorithms 1.0 and 2.0 alone.
    #[error("the document's format has no compact classifiers")]
    Compact,
    /// The format has no place for a seed.
    #[error("the document's format has no hash seed, and the keys need one")]
    Seed,
    /// A name is longer than 255 bytes.
    #[error("a name of {bytes} bytes is longer than the document's format has room for (255)")]
    Name {
        /// Its length.
        bytes: usize,
    },
    /// A filter is longer than 2^32 - 1 bytes.
    #[error("a filter of {bytes} bytes is longer than the document's format has room for (4294967295)")]
    Filter {
        /// Its length.
        bytes: usize,
    },
}

/// How long the lengths are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Document,
    Two,
}

pub(super) fn read(bytes: &[u8]) -> Result<Classifier, ReadError> {
    match bytes.first() {
        Some(&(ONE | TWO)) => read_document(Reader::new(bytes)),
        Some(b'U') => read_two(bytes),
        _ => Err(ReadError::Foreign),
    }
}

pub(super) fn write(classifier: &Classifier) -> Vec<u8> {
    let mut out = [&MARK[..], &VERSION.to_le_bytes()].concat();
    out.push(algorithm(&classifier.body));
    out.extend(classifier.seed.to_le_bytes());
    out.extend(classifier.keys.unwrap_or_default().to_le_bytes());
    out.extend((classifier.names.len() as u32).to_le_bytes());
    for name in &classifier.names {
        out.extend((name.len() as u64).to_le_bytes());
        out.extend(name);
    }
    match &classifier.body {
        Body::Steps(steps) => {
            write_steps(steps, Width::Two, &mut out);
            out.extend(steps.last.to_le_bytes());
        }
        Body::Compact(compact) => write_compact(compact, &mut out),
    }
    let sum = xxh3_64(&out);
    out.extend(sum.to_le_bytes());
    out
}

pub(super) fn write_document(classifier: &Classifier) -> Result<Vec<u8>, DocumentError> {
    let Body::Steps(steps) = &classifier.body else { return Err(DocumentError::Compact) };
    if classifier.seed != 0 {
        return Err(DocumentError::Seed);
    }
    let blooms = || steps.filled.iter().flat_map(|(_, step)| filters(Some(step))).flatten();
    if let Some(bytes) = blooms().map(|bloom| bloom.bytes().len()).find(|bytes| u32::try_from(*bytes).is_err()) {
        return Err(DocumentError::Filter { bytes });
    }
    let mut out = vec![algorithm(&classifier.body)];
    out.extend((classifier.names.len() as u32).to_le_bytes());
    for name in &classifier.names {
        write_short_name(name, &mut out)?;
    }
    write_steps(steps, Width::Document, &mut out);
    write_short_name(&classifier.names[steps.last as usize], &mut out)?;
    Ok(out)
}

/// The same bytes with a checksum that fits, so that a test gets beyond it.
#[cfg(test)]
pub(super) fn reseal_classifier(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.get(..bytes.len().saturating_sub(8)).unwrap_or_default();
    [body, &xxh3_64(body).to_le_bytes()].concat()
}

fn write_short_name(name: &[u8], out: &mut Vec<u8>) -> Result<(), DocumentError> {
    out.push(u8::try_from(name.len()).map_err(|_| DocumentError::Name { bytes: name.len() })?);
    out.extend(name);
    Ok(())
}

fn algorithm(body: &Body) -> u8 {
    match body {
        Body::Steps(steps) if steps.two => TWO,
        Body::Steps(_) => ONE,
        Body::Compact(_) => COMPACT,
    }
}

/// The filters of a step in the order in which they are written.
fn filters(step: Option<&Step>) -> [Option<&Bloom>; 2] {
    match step {
        None => [None, None],
        Some(Step::One(others)) => [Some(others), None],
        Some(Step::Two(class, others)) => [Some(class), others.as_ref()],
    }
}

fn write_steps(steps: &Steps, width: Width, out: &mut Vec<u8>) {
    let mut filled = steps.filled.iter().peekable();
    for number in 0..steps.end {
        let step = filled.next_if(|(at, _)| *at == number).map(|(_, step)| step);
        let filters = filters(step);
        for filter in if steps.two { &filters[..] } else { &filters[..1] } {
            write_filter(*filter, width, out);
        }
    }
    out.push(END);
}

fn write_filter(filter: Option<&Bloom>, width: Width, out: &mut Vec<u8>) {
    let Some(filter) = filter else { return out.push(EMPTY) };
    out.push(filter.seeds().len() as u8);
    out.extend(filter.seeds());
    let length = filter.bytes().len();
    match width {
        Width::Document => out.extend((length as u32).to_le_bytes()),
        Width::Two => out.extend((length as u64).to_le_bytes()),
    }
    out.extend(filter.bytes());
}

fn write_compact(compact: &Compact, out: &mut Vec<u8>) {
    out.push(compact.sieves.len() as u8);
    for sieve in &compact.sieves {
        out.extend(sieve.class.to_le_bytes());
        sieve.filter.values.write(out);
    }
    out.extend(compact.code.marks());
    compact.part.iter().for_each(|part| part.write(out));
    compact.groups.iter().for_each(|group| group.write(out));
}

fn read_document(mut input: Reader<'_>) -> Result<Classifier, ReadError> {
    let two = input.u8()? == TWO;
    let count = input.u32()?;
    let names = names(count, || {
        let length = input.u8()?;
        input.bytes(u64::from(length))
    })?;
    let mut steps = read_steps(&mut input, Width::Document, two, names.len())?;
    let length = input.u8()?;
    let last = input.bytes(u64::from(length))?;
    input.end()?;
    let place = names.iter().position(|name| *name == last);
    steps.last = place.ok_or(ReadError::Senseless("the last class is none of its classes"))? as u32;
    Ok(Classifier { seed: 0, keys: None, names, body: Body::Steps(steps) })
}

fn read_two(bytes: &[u8]) -> Result<Classifier, ReadError> {
    let rest = bytes.strip_prefix(MARK).ok_or(ReadError::Foreign)?;
    let found = u32::from_le_bytes(*rest.first_chunk().ok_or(ReadError::Damaged)?);
    if found > VERSION {
        return Err(ReadError::Newer { found });
    }
    let (before, sum) = bytes.split_last_chunk::<8>().ok_or(ReadError::Damaged)?;
    let body = before.get(MARK.len() + 4..).ok_or(ReadError::Damaged)?;
    if found != VERSION || xxh3_64(before) != u64::from_le_bytes(*sum) {
        return Err(ReadError::Damaged);
    }
    let mut input = Reader::new(body);
    let algorithm = input.u8()?;
    let seed = input.u64()?;
    let keys = Some(input.u64()?);
    let count = input.u32()?;
    let names = names(count, || {
        let length = input.u64()?;
        input.bytes(length)
    })?;
    let body = match algorithm {
        ONE | TWO => {
            let mut steps = read_steps(&mut input, Width::Two, algorithm == TWO, names.len())?;
            steps.last = class(input.u32()?, names.len())?;
            Body::Steps(steps)
        }
        COMPACT => Body::Compact(read_compact(&mut input, names.len())?),
        _ => return Err(ReadError::Senseless("an unknown algorithm")),
    };
    input.end()?;
    Ok(Classifier { seed, keys, names, body })
}

/// The names of the classes, each of which differs from the others.
fn names(count: u32, mut name: impl FnMut() -> Result<Vec<u8>, ReadError>) -> Result<Vec<Vec<u8>>, ReadError> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for _ in 0..count {
        let name = name()?;
        // Names without bytes would take more memory here than in the file.
        if name.is_empty() && names.last().is_some_and(Vec::is_empty) {
            return Err(ReadError::Senseless("two classes of one name"));
        }
        names.push(name);
    }
    let mut sorted: Vec<&Vec<u8>> = names.iter().collect();
    sorted.sort_unstable();
    if names.is_empty() || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(ReadError::Senseless("no classes, or two of one name"));
    }
    Ok(names)
}

fn class(number: u32, classes: usize) -> Result<u32, ReadError> {
    let known = (number as usize) < classes;
    if known { Ok(number) } else { Err(ReadError::Senseless("a class that it does not name")) }
}

fn read_steps(input: &mut Reader<'_>, width: Width, two: bool, classes: usize) -> Result<Steps, ReadError> {
    let mut steps = Steps { two, classes: classes as u64, filled: Vec::new(), end: 0, last: 0 };
    loop {
        let number = steps.end;
        let first = match input.u8()? {
            END => return Ok(steps),
            EMPTY => None,
            probes => Some(read_filter(input, width, probes, 2 * number)?),
        };
        let second = match if two { input.u8()? } else { EMPTY } {
            END => return Err(ReadError::Senseless("it ends between the two filters of a class")),
            EMPTY => None,
            probes => Some(read_filter(input, width, probes, 2 * number + 1)?),
        };
        match (first, second) {
            (None, None) => {}
            (Some(filter), second) if two => steps.filled.push((number, Step::Two(filter, second))),
            (Some(filter), _) => steps.filled.push((number, Step::One(filter))),
            (None, Some(_)) => return Err(ReadError::Senseless("a second filter without the first")),
        }
        steps.end += 1;
    }
}

fn read_filter(input: &mut Reader<'_>, width: Width, probes: u8, number: u64) -> Result<Bloom, ReadError> {
    let seeds = input.bytes(u64::from(probes))?;
    let length = if width == Width::Document { u64::from(input.u32()?) } else { input.u64()? };
    if length == 0 {
        return Err(ReadError::Senseless("a filter without bits"));
    }
    Ok(Bloom::from_parts(number, seeds, input.bytes(length)?))
}

fn read_compact(input: &mut Reader<'_>, classes: usize) -> Result<Compact, ReadError> {
    let count = input.u8()?;
    if usize::from(count) > MOST_SIEVES {
        return Err(ReadError::Senseless("too many sieves"));
    }
    let mut sieves = Vec::new();
    for structure in 0..u64::from(count) {
        let class = class(input.u32()?, classes)?;
        sieves.push(Sieve { class, filter: Fingerprints::new(Retrieval::read(input, structure)?, structure) });
    }
    let code = Code::of_marks(input.bytes(classes as u64)?).ok_or(ReadError::Senseless("no complete code"))?;
    let mut structure = u64::from(count);
    let mut part = None;
    if code.is_ternary() {
        let ternary = Retrieval::read(input, structure)?;
        if ternary.digits() != 1 {
            return Err(ReadError::Senseless("a ternary structure of more than one digit"));
        }
        part = Some(ternary);
        structure += 1;
    }
    let mut groups: Vec<Retrieval<Bits>> = Vec::new();
    for (structure, (from, to)) in (structure..).zip(spans(&code)) {
        let group = Retrieval::read(input, structure)?;
        if group.digits() != to - from {
            return Err(ReadError::Senseless("a group of the code has another number of bits"));
        }
        groups.push(group);
    }
    Ok(Compact { sieves, code, part, groups })
}
