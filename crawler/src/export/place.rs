//! Where an export goes.
//!
//! Invariants: what is there and no export stays; a file is there whole, or as it was before.

use std::{fs, io, path::Path};

use super::request::{Export, ExportError, Exported, unwritable};

/// Makes the folder, unless it has something else. One that has a file of this name is an export.
pub(super) fn begin_folder(export: &Export<'_>, list: &str) -> Result<(), ExportError> {
    let folder = &export.out;
    fs::create_dir_all(folder).map_err(unwritable(folder))?;
    let is_empty = fs::read_dir(folder).map_err(unwritable(folder))?.next().is_none();
    if is_empty || folder.join(list).exists() { Ok(()) } else { Err(ExportError::Foreign { path: folder.clone() }) }
}

/// Has a file be written beside its place, and puts it there.
pub(super) fn whole_file(
    export: &Export<'_>,
    write: impl FnOnce(&Path) -> Result<Exported, ExportError>,
) -> Result<Exported, ExportError> {
    refuse_foreign(export)?;
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

/// A folder, a device and a file of the crawl stay.
fn refuse_foreign(export: &Export<'_>) -> Result<(), ExportError> {
    let out = &export.out;
    let is_other = fs::metadata(out).is_ok_and(|known| !known.is_file());
    let folder = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_of_crawl =
        folder.canonicalize().ok().zip(export.dir.canonicalize().ok()).is_some_and(|(one, other)| one == other);
    if is_other || is_of_crawl {
        let why = if is_other { "it is no file" } else { "it is in the crawl directory" };
        return Err(unwritable(out)(io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    Ok(())
}
