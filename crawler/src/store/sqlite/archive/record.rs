//! WARC records.
//!
//! Owns: the form of records (WARC 1.1, ISO 28500:2017), their digests, and that a large block is compressed before anybody knows what the
//! header of its record will say.

use data_encoding::BASE32;
use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use super::compression::{CompressedBlock, RecordCompression};
use crate::{
    fetch::{FetchResponse, Truncation},
    time::Moment,
};

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
    compressed: CompressedBlock,
    digest: PayloadDigest,
}

impl ArchivedAnswer {
    /// Reads an answer; `None` where the fetcher has not kept what it takes.
    pub fn of(answer: &FetchResponse, compression: RecordCompression) -> Option<Self> {
        let (raw, body) = (answer.raw_head.as_ref()?, answer.body_as_sent()?);
        let head = unframed(&raw.bytes);
        let whole = Block::of(&[&head, body], compression);
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
        self.whole.compressed.bytes() + self.head.len() + self.request.len()
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
    pub(super) fn of(parts: &[&[u8]], compression: RecordCompression) -> Self {
        let digest = parts.iter().fold(Sha1::new(), Sha1::chain_update);
        Self { compressed: compression.block(parts), digest: digest.finalize().into() }
    }
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
        let text = self.ended(content_type, block.digest, block.compressed.length());
        block.compressed.below(&text)
    }

    /// The same with a block that is short.
    pub(super) fn over_short(self, content_type: &str, block: &[u8], compression: RecordCompression) -> Vec<u8> {
        let text = self.ended(content_type, Sha1::digest(block).into(), block.len() as u64);
        compression.short(&[text.as_bytes(), block])
    }

    fn ended(self, content_type: &str, block: PayloadDigest, length: u64) -> String {
        let header = self.with("WARC-Block-Digest", &digest(block)).with("Content-Type", content_type);
        header.with("Content-Length", &length.to_string()).0 + "\r\n"
    }
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

    use super::{super::compression, *};

    #[test]
    fn a_record_is_one_member_whatever_the_length_of_its_block() {
        for (length, form) in [0, 1, 200, 65_535, 65_536, 3_000_000]
            .into_iter()
            .flat_map(|length| [(length, RecordCompression::Gzip), (length, RecordCompression::Zstd)])
        {
            let mut random = 7_u64;
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if length % 2 == 0 { b"<p>word "[(random >> 60) as usize % 8] } else { (random >> 56) as u8 }
            })
            .take(length)
            .collect();
            let block = Block::of(&[b"HTTP/1.1 200 OK\r\n\r\n", &bytes], form);
            let header = RecordHeader::new("response", "<urn:uuid:1>", Moment::from_millis(1_000));
            // A header may be longer than a window.
            let long = "long".repeat(1 + length % 3 * 1_000);
            let member = header.with("X", "a\r\nb").with("Y", &long).over("application/http", &block);
            let mut text = Vec::new();
            match form {
                RecordCompression::Gzip => flate2::read::GzDecoder::new(&member[..]).read_to_end(&mut text).unwrap(),
                RecordCompression::Zstd => {
                    assert_eq!(zstd::zstd_safe::find_frame_compressed_size(&member), Ok(member.len()), "one frame");
                    zstd::Decoder::new(&member[..]).unwrap().single_frame().read_to_end(&mut text).unwrap()
                }
            };
            let start = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 1970-01-01T00:00:01.000Z\r\nX: ab\r\n";
            assert!(text.starts_with(start) && text.ends_with(&[&bytes[..], b"\r\n\r\n"].concat()), "{length}");
            let mut twice = Vec::new();
            let short =
                RecordHeader::of_kind("request").over_short("application/http", b"GET / HTTP/1.1\r\n\r\n", form);
            let both = [&member[..], &short].concat();
            compression::text(&both[..]).unwrap().read_to_end(&mut twice).unwrap();
            assert!(twice.starts_with(&text) && twice.ends_with(b"GET / HTTP/1.1\r\n\r\n\r\n\r\n"));
        }
    }

    #[test]
    fn what_a_head_says_of_chunks_is_left_out() {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nTransfer-Encoding: x\r\nserver: a\r\n\r\n";
        assert_eq!(unframed(head), b"HTTP/1.1 200 OK\r\nserver: a\r\n\r\n");
    }
}
