use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const LIMITS: BodyLimits = BodyLimits { max_body: 10 << 20, max_expansion: 200 };

pub(in crate::fetch) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(in crate::fetch) fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(in crate::fetch) fn raw(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(in crate::fetch) fn brotli(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = ::brotli::CompressorWriter::new(&mut out, 4096, 5, 22);
    encoder.write_all(text).unwrap();
    drop(encoder);
    out
}

pub(in crate::fetch) fn zstd(text: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(text, 3).unwrap()
}

/// Decodes in pieces of `piece` bytes; a limit ends the input.
fn decode_in(
    piece: usize,
    coding: &str,
    bytes: &[u8],
    limits: BodyLimits,
) -> Result<(Decoded, Option<Truncation>), DecodeError> {
    let mut decoder = BodyDecoder::new([coding.as_bytes()], limits)?;
    for piece in bytes.chunks(piece) {
        if let ControlFlow::Break(reason) = decoder.push(piece)? {
            return Ok((decoder.finish(), Some(reason)));
        }
    }
    Ok((decoder.finish(), None))
}

fn decode(coding: &str, bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let (decoded, cut) = decode_in(usize::MAX, coding, bytes, LIMITS)?;
    assert_eq!(cut, None);
    Ok(decoded)
}

fn whole(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let decoded = decode(coding, bytes).unwrap();
    assert!(decoded.complete, "{coding}");
    decoded.body
}

fn page() -> Vec<u8> {
    (0..10_000u32)
        .flat_map(|n| format!("<p><a href=\"{}.html\">{n}</a>", n.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

/// Each coding's name with an encoder.
type Encoder = (&'static str, fn(&[u8]) -> Vec<u8>);
const ENCODERS: [Encoder; 5] = [("gzip", gzip), ("deflate", zlib), ("deflate", raw), ("br", brotli), ("zstd", zstd)];

#[test]
fn undoes_every_coding_in_any_pieces() {
    let page = page();
    for (name, encode) in ENCODERS {
        let encoded = encode(&page);
        for piece in [1, 2, 3, 1000, usize::MAX] {
            let (decoded, cut) = decode_in(piece, name, &encoded, LIMITS).unwrap();
            assert!(decoded.body == page && decoded.complete && cut.is_none(), "{name} in pieces of {piece}");
            assert_eq!(decoded.wire_bytes, encoded.len() as u64);
        }
        assert_eq!(whole(name, &encode(b"")), b"", "{name}: a coded nothing");
        assert_eq!(whole(name, b""), b"", "{name}: nothing at all");
    }
}

#[test]
fn undoes_codings_on_top_of_each_other() {
    let page = page();
    for (inner, first) in ENCODERS {
        for (outer, second) in ENCODERS {
            assert!(whole(&format!("{inner}, {outer}"), &second(&first(&page))) == page, "{inner} in {outer}");
        }
    }
    let (decoded, _) = decode_in(1, "br, zstd, gzip", &gzip(&zstd(&brotli(&page))), LIMITS).unwrap();
    assert!(decoded.body == page && decoded.complete);
}

#[test]
fn reads_all_members_and_frames() {
    assert_eq!(whole("gzip", &[gzip(b"one "), gzip(b""), gzip(b"two")].concat()), b"one two");
    assert_eq!(whole("zstd", &[zstd(b"one "), zstd(b"two")].concat()), b"one two");
}

#[test]
fn ignores_what_follows_the_end() {
    for (name, encode) in ENCODERS {
        for garbage in [b"\0\0\0\0".as_slice(), b"<!-- cached -->", b"\x1f\x8c and no gzip", b"\x28\xb5\x2f\xfe"] {
            let bytes = [&encode(b"page"), garbage].concat();
            assert_eq!(whole(name, &bytes), b"page", "{name} before {garbage:?}");
            let (decoded, _) = decode_in(1, name, &bytes, LIMITS).unwrap();
            assert_eq!(decoded.body, b"page", "{name} before {garbage:?}, byte by byte");
        }
    }
}

#[test]
fn takes_what_only_claims_to_be_gzip_as_it_is() {
    for piece in [1, 2, usize::MAX] {
        let (decoded, _) = decode_in(piece, "gzip", b"<html>plain</html>", LIMITS).unwrap();
        assert!(decoded.complete && decoded.body == b"<html>plain</html>");
    }
}

#[test]
fn tells_an_early_end_from_an_end() {
    let page = page();
    for (name, encode) in ENCODERS {
        let encoded = encode(&page);
        let decoded = decode(name, &encoded[..encoded.len() * 2 / 3]).unwrap();
        assert!(!decoded.complete, "{name}");
        assert!(!decoded.body.is_empty() && page.starts_with(&decoded.body), "{name}");
        assert!(!decode(name, &encoded[..encoded.len() - 1]).unwrap().complete, "{name} without its last byte");
    }
}

#[test]
fn names_a_corrupt_stream() {
    let page = page();
    let broken = |encode: fn(&[u8]) -> Vec<u8>| {
        let mut bytes = encode(&page);
        let half = bytes.len() / 2;
        bytes[half..half + 200].fill(0xff);
        bytes
    };
    assert_eq!(decode("gzip", &broken(gzip)), Err(DecodeError::Corrupt(Coding::Gzip)));
    assert_eq!(decode("deflate", &broken(zlib)), Err(DecodeError::Corrupt(Coding::Deflate)));
    assert_eq!(decode("br", b"<html>not brotli"), Err(DecodeError::Corrupt(Coding::Brotli)));
    assert_eq!(decode("zstd", b"<html>not zstd"), Err(DecodeError::Corrupt(Coding::Zstd)));
    let mut wrong_sum = gzip(&page);
    let at = wrong_sum.len() - 8;
    wrong_sum[at] ^= 1;
    assert_eq!(decode("gzip", &wrong_sum), Err(DecodeError::Corrupt(Coding::Gzip)));
}

#[test]
fn a_body_is_never_longer_than_the_limit() {
    let page = page();
    let limits = |max_body: usize| BodyLimits { max_body: max_body as u64, ..LIMITS };
    for (name, encode) in [("identity", <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>)].into_iter().chain(ENCODERS) {
        let encoded = encode(&page);
        for piece in [7, usize::MAX] {
            let (decoded, cut) = decode_in(piece, name, &encoded, limits(page.len())).unwrap();
            assert!(decoded.body == page && cut.is_none(), "{name}: just fits");
            let (decoded, cut) = decode_in(piece, name, &encoded, limits(page.len() - 1)).unwrap();
            assert_eq!((decoded.body.as_slice(), cut), (&page[..page.len() - 1], Some(Truncation::Size)), "{name}");
        }
    }
}

#[test]
fn a_bomb_is_put_out_early() {
    let zeros = vec![0; 64 << 20];
    let limits = BodyLimits { max_body: u64::MAX, max_expansion: 100 };
    for (name, encode) in ENCODERS {
        let bomb = encode(&zeros);
        let (decoded, cut) = decode_in(1000, name, &bomb, limits).unwrap();
        assert_eq!(cut, Some(Truncation::Expansion), "{name}");
        assert!(decoded.body.len() < 8 << 20, "{name}: {}", decoded.body.len());
    }
    let nested = gzip(&gzip(&zeros));
    let (decoded, cut) = decode_in(usize::MAX, "gzip, gzip", &nested, limits).unwrap();
    assert_eq!(cut, Some(Truncation::Expansion));
    assert!(decoded.body.len() < 2 << 20);
}

#[test]
fn a_stream_that_yields_nothing_ends() {
    let nothing = gzip(b"").repeat(50_000);
    let (decoded, cut) = decode_in(4096, "gzip", &nothing, BodyLimits { max_body: 1000, ..LIMITS }).unwrap();
    assert_eq!(cut, Some(Truncation::Size));
    assert!(decoded.wire_bytes < 80_000 && decoded.body.is_empty());
}

#[test]
fn a_promised_length_reserves_little() {
    let mut decoder = BodyDecoder::new([], BodyLimits { max_body: u64::MAX, ..LIMITS }).unwrap();
    decoder.expect(u64::MAX);
    assert!(decoder.finish().body.capacity() <= 1 << 20);
}

proptest! {
    #[test]
    fn pieces_change_nothing(page in vec(any::<u8>(), 0..5000), which in 0..5usize, piece in 1..600usize) {
        let (name, encode) = ENCODERS[which];
        let (decoded, cut) = decode_in(piece, name, &encode(&page), LIMITS).unwrap();
        prop_assert!(decoded.body == page && decoded.complete && cut.is_none());
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in vec(any::<u8>(), 0..600), which in 0..5usize, keep in 0..600usize, piece in 1..100usize,
    ) {
        let (name, encode) = ENCODERS[which];
        let mut mixed = encode(&page());
        mixed.truncate(keep);
        mixed.extend(bytes);
        let limits = BodyLimits { max_body: 5000, max_expansion: 10 };
        if let Ok((decoded, _)) = decode_in(piece, name, &mixed, limits) {
            prop_assert!(decoded.body.len() <= 5000);
        }
    }
}
