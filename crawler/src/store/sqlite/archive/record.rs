//! WARC records: each a gzip member of its own.
//!
//! Owns: the form of records (WARC 1.1, ISO 28500:2017), their digests, and that a large block is compressed before anybody knows what the
//! header of its record will say.
//!
//! A member is two runs of deflate, one after the other: the header, and the block. Both end at a byte, and the second does not look back
//! into the first, so they may be made at different times.

use std::cell::RefCell;

use data_encoding::BASE32;
use flate2::{Compress, Compression, Crc, FlushCompress};
use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use crate::{
    fetch::{FetchResponse, Truncation},
    time::Moment,
};

/// Of 2,500 pages of a manual, the levels 1, 2, 4 and 6 take 29, 53, 70 and 88 us a page for 22, 17.5, 15.6 and 15.0 % of its length.
const LEVEL: u32 = 4;

/// What is short takes 5 us at this level, and 12 at any other, for a sixth less room.
const LEVEL_OF_SHORT: u32 = 1;

/// The head of a gzip member without a name and a time (RFC 1952).
const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// What follows the block of a record.
const END: [u8; 4] = *b"\r\n\r\n";

/// Room for what a compressor keeps back.
const SPARE: usize = 1024;

/// SHA-1, as readers of archives expect it.
pub(super) type PayloadDigest = [u8; 20];

/// What an archive keeps of an answer, made ready where nobody waits.
pub struct ArchivedAnswer {
    /// The block of a record that has it whole: head and body.
    whole: Block,
    /// The head alone, as it is: for a record that says where the same body is.
    head: Box<[u8]>,
    /// The head of the request.
    request: Box<[u8]>,
    pub(super) payload: PayloadDigest,
    /// The content coding of the body.
    pub(super) coding: Option<Box<str>>,
    pub(super) content_type: Option<Box<str>>,
    truncated: Option<&'static str>,
    address: Option<String>,
}

/// What is below the header of a record, compressed.
pub(super) struct Block {
    deflated: Vec<u8>,
    crc: Crc,
    digest: PayloadDigest,
}

impl ArchivedAnswer {
    /// Reads an answer; `None` where the fetcher has not kept what it takes.
    pub fn of(answer: &FetchResponse) -> Option<Self> {
        let (raw, body) = (answer.raw_head.as_ref()?, answer.body_as_sent()?);
        let head = unframed(&raw.bytes);
        let whole = Block::of(&[&head, body]);
        let truncated = answer.truncated.map(|truncated| match truncated {
            Truncation::Size => "length",
            Truncation::Time | Truncation::Slow => "time",
            Truncation::Disconnect => "disconnect",
            Truncation::Expansion | Truncation::Rule => "unspecified",
        });
        Some(Self {
            whole,
            head: head.into(),
            request: raw.request.clone(),
            payload: Sha1::digest(body).into(),
            coding: codings(answer),
            content_type: answer.content_type().map(Into::into),
            truncated,
            address: answer.remote.map(|address| address.ip().to_string()),
        })
    }

    /// What it adds to the header of its record.
    pub(super) fn describe(&self, header: RecordHeader) -> RecordHeader {
        header
            .with("WARC-Payload-Digest", &digest(self.payload))
            .with_some("WARC-IP-Address", self.address.as_deref())
            .with_some("WARC-Truncated", self.truncated)
    }

    /// The blocks of its records: whole, the head alone, and the request.
    pub(super) fn whole(&self) -> &Block {
        &self.whole
    }

    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(super) fn request(&self) -> &[u8] {
        &self.request
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.whole.deflated.len() + self.head.len() + self.request.len()
    }
}

/// The content codings of a body, those of several headers in one line.
fn codings(answer: &FetchResponse) -> Option<Box<str>> {
    let all = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let all: Vec<_> = all.map(|(_, value)| String::from_utf8_lossy(value)).collect();
    (!all.is_empty()).then(|| all.join(", ").into())
}

/// A head without what it says of the framing of the transfer, which was undone.
fn unframed(head: &[u8]) -> Vec<u8> {
    let is_framing = |line: &&[u8]| line.get(..18).is_some_and(|name| name.eq_ignore_ascii_case(b"transfer-encoding:"));
    head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_framing(line)).collect::<Vec<_>>().concat()
}

impl Block {
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let (mut crc, mut digest) = (Crc::new(), Sha1::new());
        for part in parts {
            crc.update(part);
            digest.update(part);
        }
        Self {
            deflated: COMPRESS.with_borrow_mut(|compress| deflated(compress, parts)),
            crc,
            digest: digest.finalize().into(),
        }
    }
}

thread_local! {
    /// Making one takes longer than compressing a header.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), false));
    static COMPRESS_SHORT: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL_OF_SHORT), false));
}

/// A run of deflate that ends at a byte, and does not end the stream.
fn deflated(compress: &mut Compress, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(length / 3 + SPARE);
    compress.reset();
    for part in parts {
        run(compress, part, &mut bytes, FlushCompress::None);
    }
    run(compress, &[], &mut bytes, FlushCompress::Full);
    bytes
}

/// Compresses a part, and all that is left of the parts before it where that is flushed.
fn run(compress: &mut Compress, mut part: &[u8], bytes: &mut Vec<u8>, flush: FlushCompress) {
    loop {
        let before = compress.total_in();
        bytes.reserve(SPARE);
        compress.compress_vec(part, bytes, flush).expect("deflate takes any bytes");
        part = &part[usize::try_from(compress.total_in() - before).expect("no more than was given")..];
        // Where there is room left, nothing is kept back.
        if part.is_empty() && bytes.len() < bytes.capacity() {
            return;
        }
    }
}

/// The last run of a stream: these bytes as they are.
fn stored(bytes: [u8; 4]) -> [u8; 9] {
    let [a, b, c, d] = bytes;
    [1, 4, 0, !4, !0, a, b, c, d]
}

/// A record without its block.
pub(super) struct RecordHeader(String);

impl RecordHeader {
    pub(super) fn new(kind: &str, id: &str, at: Moment) -> Self {
        Self::of_kind(kind).with("WARC-Record-ID", id).with("WARC-Date", &date(at))
    }

    /// One that has nothing else yet.
    pub(super) fn of_kind(kind: &str) -> Self {
        Self(format!("WARC/1.1\r\nWARC-Type: {kind}\r\n"))
    }

    /// Adds a field. A line break would begin another.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        let value: String = value.chars().filter(|char| !char.is_control()).collect();
        self.0.extend([name, ": ", &value, "\r\n"]);
        self
    }

    /// The same where there is a value.
    pub(super) fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The record with this block.
    pub(super) fn over(self, content_type: &str, block: &Block) -> Vec<u8> {
        let text = self.ended(content_type, block.digest, block.crc.amount());
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        crc.combine(&block.crc);
        let header = COMPRESS_SHORT.with_borrow_mut(|compress| deflated(compress, &[text.as_bytes()]));
        member(&[&header, &block.deflated], crc)
    }

    /// The same with a block that is short.
    pub(super) fn over_short(self, content_type: &str, block: &[u8]) -> Vec<u8> {
        let length = u32::try_from(block.len()).expect("it is short");
        let text = self.ended(content_type, Sha1::digest(block).into(), length);
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        crc.update(block);
        let all = COMPRESS_SHORT.with_borrow_mut(|compress| deflated(compress, &[text.as_bytes(), block]));
        member(&[&all], crc)
    }

    fn ended(self, content_type: &str, block: PayloadDigest, length: u32) -> String {
        let header = self.with("WARC-Block-Digest", &digest(block)).with("Content-Type", content_type);
        header.with("Content-Length", &length.to_string()).0 + "\r\n"
    }
}

/// The gzip member of these runs of deflate, which are of a text with this sum.
fn member(runs: &[&[u8]], mut crc: Crc) -> Vec<u8> {
    crc.update(&END);
    let sums = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
    [&GZIP[..], &runs.concat(), &stored(END), &sums].concat()
}

/// A digest as it is written.
pub(super) fn digest(digest: PayloadDigest) -> String {
    format!("sha1:{}", BASE32.encode(&digest))
}

/// A moment as WARC has it, to the millisecond.
pub(super) fn date(at: Moment) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The same as CDX has it, to the second.
pub(super) fn cdx_date(at: Moment) -> String {
    timestamp(at).strftime("%Y%m%d%H%M%S").to_string()
}

fn timestamp(at: Moment) -> Timestamp {
    i64::try_from(at.millis()).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::MultiGzDecoder;

    use super::*;

    #[test]
    fn a_record_is_one_member_whatever_the_length_of_its_block() {
        for length in [0, 1, 200, 65_535, 65_536, 3_000_000] {
            let mut random = 7_u64;
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if length % 2 == 0 { b"<p>word "[(random >> 60) as usize % 8] } else { (random >> 56) as u8 }
            })
            .take(length)
            .collect();
            let block = Block::of(&[b"HTTP/1.1 200 OK\r\n\r\n", &bytes]);
            let header = RecordHeader::new("response", "<urn:uuid:1>", Moment::from_millis(1_000));
            let member = header.with("X", "a\r\nb").over("application/http", &block);
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(&member[..]).read_to_end(&mut text).unwrap();
            let start = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 1970-01-01T00:00:01.000Z\r\nX: ab\r\n";
            assert!(text.starts_with(start) && text.ends_with(&[&bytes[..], b"\r\n\r\n"].concat()), "{length}");
            let mut twice = Vec::new();
            MultiGzDecoder::new(&[&member[..], &member].concat()[..]).read_to_end(&mut twice).unwrap();
            assert_eq!(twice.len(), 2 * text.len());
        }
    }

    #[test]
    fn what_a_head_says_of_chunks_is_left_out() {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nTransfer-Encoding: x\r\nserver: a\r\n\r\n";
        assert_eq!(unframed(head), b"HTTP/1.1 200 OK\r\nserver: a\r\n\r\n");
    }
}
