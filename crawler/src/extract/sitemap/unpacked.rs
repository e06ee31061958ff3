//! [`Unpacked`]: what is in a body that is in gzip.

use std::{borrow::Cow, io::Read};

use flate2::bufread::GzDecoder;

use super::problem::SourceFault;

pub(super) const GZIP: &[u8] = b"\x1f\x8b";

/// A body as it is read.
#[derive(Debug)]
pub(super) struct Unpacked<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Why the bytes are not all there is.
    pub(super) fault: Option<SourceFault>,
}

impl<'a> Unpacked<'a> {
    /// A body that does not begin as gzip does is taken as it is. Neither it nor what comes out of it is longer than this.
    pub(super) fn of(body: &'a [u8], longest: usize) -> Self {
        let cut = body.len() > longest;
        let body = &body[..body.len().min(longest)];
        let unpacked = if body.starts_with(GZIP) { gunzip(body, longest) } else { Self::whole(Cow::Borrowed(body)) };
        Self { fault: unpacked.fault.or(cut.then_some(SourceFault::TooLong)), ..unpacked }
    }

    fn whole(bytes: Cow<'a, [u8]>) -> Self {
        Self { bytes, fault: None }
    }
}

/// One member after the other; what follows them is no part of the file.
fn gunzip(body: &[u8], longest: usize) -> Unpacked<'static> {
    let mut bytes = Vec::new();
    let mut rest = body;
    let mut fault = None;
    while rest.starts_with(GZIP) && fault.is_none() {
        let room = longest - bytes.len();
        let mut member = GzDecoder::new(rest).take(room as u64 + 1);
        if member.read_to_end(&mut bytes).is_err() {
            fault = Some(SourceFault::Gzip);
        }
        if bytes.len() > longest {
            bytes.truncate(longest);
            fault = Some(SourceFault::TooLong);
        }
        rest = member.into_inner().into_inner();
    }
    Unpacked { bytes: Cow::Owned(bytes), fault }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(body: &[u8], longest: usize) -> (Vec<u8>, Option<SourceFault>) {
        let unpacked = Unpacked::of(body, longest);
        (unpacked.bytes.into_owned(), unpacked.fault)
    }

    #[test]
    fn joins_members_and_ignores_what_follows() {
        let body = [packed(b"one "), packed(b"two"), b"\0\0rest".to_vec()].concat();
        assert_eq!(unpacked(&body, 1000), (b"one two".to_vec(), None));
    }

    #[test]
    fn what_is_not_gzip_is_not_copied() {
        assert!(matches!(Unpacked::of(b"plain", 10).bytes, Cow::Borrowed(b"plain")));
        assert_eq!(unpacked(b"plain", 3), (b"pla".to_vec(), Some(SourceFault::TooLong)));
    }

    #[test]
    fn a_bomb_is_cut_at_the_limit() {
        let bomb = packed(&vec![b'x'; 1 << 20]);
        let (bytes, fault) = unpacked(&bomb, 5000);
        assert_eq!((bytes.len(), fault), (5000, Some(SourceFault::TooLong)));
        assert_eq!(unpacked(&packed(&[b'x'; 5000]), 5000).1, None);
    }

    #[test]
    fn a_damaged_stream_gives_what_came_before() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let body = packed(&text);
        let (bytes, fault) = unpacked(&body[..body.len() / 2], 1 << 20);
        assert!(text.starts_with(&bytes) && bytes.len() > 1000, "{}", bytes.len());
        assert_eq!(fault, Some(SourceFault::Gzip));
        assert_eq!(unpacked(b"\x1f\x8b", 10), (Vec::new(), Some(SourceFault::Gzip)));
    }
}
