//! Where an export goes.
//!
//! Invariants: what is there and no export stays; a file is there whole, or as it was before.

use std::{fs, io, path::Path};

use super::request::{Export, ExportError, Exported, unwritable};

/// What a crawl directory has.
const DATABASE: &str = "webloom.sqlite";

/// Makes the folder, unless it has something else than an export of this kind: there is a list of what it has, which `is_own`, or the
/// beginning of one.
pub(super) fn begin_folder(
    export: &Export<'_>,
    list: &str,
    is_own: impl FnOnce(&Path) -> bool,
) -> Result<(), ExportError> {
    let folder = &export.out;
    refuse_crawls(folder)?;
    fs::create_dir_all(folder).map_err(unwritable(folder))?;
    let is_empty = fs::read_dir(folder).map_err(unwritable(folder))?.next().is_none();
    let list = folder.join(list);
    let is_there = list.exists() || list.with_added_extension("new").exists();
    let is_ours = is_empty || (is_there && is_own(&list));
    if is_ours { Ok(()) } else { Err(ExportError::Foreign { path: folder.clone() }) }
}

/// Has a file be written beside its place, and puts it there.
pub(super) fn whole_file(
    export: &Export<'_>,
    write: impl FnOnce(&Path) -> Result<Exported, ExportError>,
) -> Result<Exported, ExportError> {
    refuse_crawls(&export.out)?;
    if fs::metadata(&export.out).is_ok_and(|known| !known.is_file()) {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is no file");
        return Err(unwritable(&export.out)(why));
    }
    let new = export.out.with_added_extension("new");
    let written = write(&new).and_then(|exported| {
        fs::rename(&new, &export.out).map_err(unwritable(&export.out))?;
        Ok(exported)
    });
    if written.is_err() {
        // Nobody needs what was begun.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Nothing is written into a crawl directory, of whichever crawl.
fn refuse_crawls(out: &Path) -> Result<(), ExportError> {
    let absolute = std::path::absolute(out).map_err(unwritable(out))?;
    let there = absolute.ancestors().find_map(|above| above.canonicalize().ok()).unwrap_or(absolute);
    if there.ancestors().any(|above| above.join(DATABASE).exists()) {
        let why = io::Error::new(io::ErrorKind::InvalidInput, "it is in a crawl directory");
        return Err(unwritable(out)(why));
    }
    Ok(())
}
