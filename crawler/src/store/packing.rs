//! Packs and unpacks what is kept with zstd. Making what does that takes longer than its work on a page, so each thread keeps one.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    /// By their levels: of another one they would be prepared anew.
    static COMPRESSORS: RefCell<Vec<(i32, Compressor<'static>)>> = const { RefCell::new(Vec::new()) };
}

/// The bytes, packed at a level; none where there is no memory for that.
pub(super) fn pack(bytes: &[u8], level: i32) -> Vec<u8> {
    COMPRESSORS.with_borrow_mut(|kept| {
        let place = kept.iter().position(|(known, _)| *known == level).or_else(|| {
            kept.push((level, Compressor::new(level).ok()?));
            Some(kept.len() - 1)
        });
        place.and_then(|place| kept[place].1.compress(bytes).ok()).unwrap_or_default()
    })
}

/// The bytes that were packed; `None` where they are damaged, or more than `most`.
pub(super) fn unpack(body: &[u8], most: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress(body, most).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_spoils_nothing_that_comes_after_it() {
        let packed = zstd::bulk::compress(b"a page", 1).unwrap();
        for _ in 0..2 {
            assert_eq!(unpack(&packed, 6).as_deref(), Some(&b"a page"[..]));
            assert_eq!(unpack(&packed, 5), None);
            assert_eq!(unpack(&packed[..packed.len() - 1], 6), None);
            assert_eq!(unpack(b"no frame", 6), None);
        }
    }
}
