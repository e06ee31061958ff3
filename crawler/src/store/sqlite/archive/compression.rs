//! [`RecordCompression`]: how records are compressed, each by itself.
//!
//! A gzip member is two runs of deflate, one after the other: the header, and the block. Both end at a byte, and the second does not look
//! back into the first, so they may be made at different times. A zstd frame has the header as it is, and then the blocks of another
//! frame: what is as it is changes nothing of what these refer to (RFC 8878, 3.1.1). Its sum is of all of it, for which the block is
//! decompressed once more.

use std::{
    cell::RefCell,
    io::{self, BufRead, BufReader, Read},
};

use flate2::{Compress, Compression, Crc, FlushCompress, bufread::MultiGzDecoder};
use xxhash_rust::xxh64::xxh64;
use zstd::{bulk::Compressor, zstd_safe::CParameter};

use crate::store::packing::unpack;

/// Of 2,500 pages of a manual, the levels 1, 2, 4 and 6 take 29, 53, 70 and 88 us a page for 22, 17.5, 15.6 and 15.0 % of its length.
const LEVEL: u32 = 4;

/// What is short takes 5 us at this level, and 12 at any other, for a sixth less room.
const LEVEL_OF_SHORT: u32 = 1;

/// The head of a gzip member without a name and a time (RFC 1952).
const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Of 500 pages of the same manual (measured apart from the levels above), the levels 3, 5 and 9 take 73, 188 and 391 us a page for 16.0, 14.5 and 14.0 % of its length.
const ZSTD_LEVEL: i32 = 5;

/// What a zstd frame begins with: that it is one, that it ends with a sum, and that its window comes next.
const ZSTD: [u8; 5] = [0x28, 0xb5, 0x2f, 0xfd, 4];

/// The least window that a frame has: no block is longer.
const LEAST_WINDOW: usize = 1024;

/// What follows the block of a record.
const END: [u8; 4] = *b"\r\n\r\n";

/// Room for what a compressor keeps back.
const SPARE: usize = 1024;

/// The form of an archive file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordCompression {
    /// A gzip member for each record: every reader of archives knows it.
    Gzip,
    /// A zstd frame for each record.
    Zstd,
}

/// A block, and what follows it.
pub(super) enum CompressedBlock {
    Gzip { deflated: Vec<u8>, crc: Crc },
    Zstd { frame: Vec<u8>, length: u64 },
}

impl RecordCompression {
    pub(super) const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// How the names of its files end.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".warc.gz",
            Self::Zstd => ".warc.zst",
        }
    }

    /// That of a file of this name; `None` if it is no archive.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| name.ends_with(form.suffix()))
    }

    /// Compresses what is below a header.
    pub(super) fn block(self, parts: &[&[u8]]) -> CompressedBlock {
        match self {
            Self::Gzip => {
                let deflated = COMPRESS.with_borrow_mut(|compress| deflated(compress, parts));
                CompressedBlock::Gzip { deflated, crc: sum(parts) }
            }
            Self::Zstd => {
                let length = parts.iter().map(|part| part.len() as u64).sum();
                CompressedBlock::Zstd { frame: frame(parts), length }
            }
        }
    }

    /// A record of these parts, which are short.
    pub(super) fn short(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Gzip => member(&[&COMPRESS_SHORT.with_borrow_mut(|compress| deflated(compress, parts))], sum(parts)),
            Self::Zstd => {
                let frame = frame(parts);
                let (begin, blocks) = frame.split_at(ZSTD.len() + 1);
                let text = [&parts.concat()[..], &END].concat();
                [&ZSTD[..], &begin[ZSTD.len()..], blocks, &checksum(&text)].concat()
            }
        }
    }
}

impl CompressedBlock {
    /// Bytes of the block.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Gzip { crc, .. } => crc.amount().into(),
            Self::Zstd { length, .. } => *length,
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let (Self::Gzip { deflated: compressed, .. } | Self::Zstd { frame: compressed, .. }) = self;
        compressed.len()
    }

    /// The record with this header.
    pub(super) fn below(&self, header: &str) -> Vec<u8> {
        match self {
            Self::Gzip { deflated: block, crc } => {
                let mut all = sum(&[header.as_bytes()]);
                all.combine(crc);
                let header = COMPRESS_SHORT.with_borrow_mut(|compress| deflated(compress, &[header.as_bytes()]));
                member(&[&header, block], all)
            }
            Self::Zstd { frame, length } => {
                let (begin, blocks) = frame.split_at(ZSTD.len() + 1);
                let mut record = [&ZSTD[..], &begin[ZSTD.len()..]].concat();
                for part in header.as_bytes().chunks(LEAST_WINDOW) {
                    // Not the last block, as it is, so long.
                    let length = u32::try_from(part.len() << 3).expect("it is short").to_le_bytes();
                    record.extend_from_slice(&length[..3]);
                    record.extend_from_slice(part);
                }
                record.extend_from_slice(blocks);
                let most = usize::try_from(*length).expect("it was in memory") + END.len();
                let block = unpack(frame, most).expect("it was compressed here");
                record.extend_from_slice(&checksum(&[header.as_bytes(), &block].concat()));
                record
            }
        }
    }
}

/// The text of compressed records, whatever their form.
pub(super) fn text<'a>(source: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut source = BufReader::new(source);
    Ok(if source.fill_buf()?.starts_with(&ZSTD[..4]) {
        Box::new(zstd::Decoder::with_buffer(source)?)
    } else {
        Box::new(MultiGzDecoder::new(source))
    })
}

/// The sum at the end of a frame.
fn checksum(text: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh64(text, 0).to_le_bytes();
    [a, b, c, d]
}

/// A zstd frame of these parts and what follows them, without a sum. Its window is in the sixth byte.
fn frame(parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(length + END.len());
    for part in parts.iter().chain(&[&END[..]]) {
        bytes.extend_from_slice(part);
    }
    let compressed = COMPRESS_ZSTD.with_borrow_mut(|compressor| compressor.compress(&bytes));
    let mut frame = compressed.expect("zstd takes any bytes");
    // It was made as long as the bytes.
    frame.shrink_to_fit();
    frame
}

fn zstd_compressor() -> Compressor<'static> {
    let make = || {
        let mut compressor = Compressor::new(ZSTD_LEVEL)?;
        for nothing_more in
            [CParameter::ContentSizeFlag(false), CParameter::ChecksumFlag(false), CParameter::DictIdFlag(false)]
        {
            compressor.set_parameter(nothing_more)?;
        }
        Ok::<_, io::Error>(compressor)
    };
    make().expect("these are parameters of zstd")
}

fn sum(parts: &[&[u8]]) -> Crc {
    let mut crc = Crc::new();
    for part in parts {
        crc.update(part);
    }
    crc
}

thread_local! {
    /// Making one takes longer than compressing a header.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), false));
    static COMPRESS_ZSTD: RefCell<Compressor<'static>> = RefCell::new(zstd_compressor());
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

/// The gzip member of these runs of deflate, which are of a text with this sum.
fn member(runs: &[&[u8]], mut crc: Crc) -> Vec<u8> {
    crc.update(&END);
    let sums = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
    [&GZIP[..], &runs.concat(), &stored(END), &sums].concat()
}
