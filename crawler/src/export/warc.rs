//! WARC files with the archived answers, and an index of them.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

use super::{
    place,
    request::{Export, ExportError, Exported, unwritable},
};
use crate::{
    session::directory::{ArchiveCopies, ArchivedVisit, ChangedSince},
    time::Moment,
};

/// The index; a folder that has it is an export.
const INDEX: &str = "index.cdxj";

/// Writes a folder of them.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    place::begin_folder(export, INDEX)?;
    let path = export.out.join(INDEX);
    let mut index = BufWriter::new(File::create(&path).map_err(unwritable(&path))?);
    let (copies, _) = copy(export, &export.out, |line| writeln!(index, "{line}").map_err(unwritable(&path)))?;
    index.flush().map_err(unwritable(&path))?;
    forget_others(&export.out, &copies)?;
    Ok(Exported { pages: copies.answers, ..Exported::default() })
}

/// Copies the answers that are wanted into a folder, and shows the lines of their index; the time of the last of them.
pub(super) fn copy(
    export: &Export<'_>,
    folder: &Path,
    each_line: impl FnMut(&str) -> Result<(), ExportError>,
) -> Result<(ArchiveCopies, Moment), ExportError> {
    let mut last = Moment::EPOCH;
    let is_wanted = |visit: &ArchivedVisit<'_>| {
        let is_new = match export.since {
            ChangedSince::Ever => true,
            ChangedSince::After(sequence) => visit.sequence > sequence,
            ChangedSince::Moment(from) => visit.at >= from,
        };
        let is_wanted = is_new && export.wants(visit.url);
        if is_wanted {
            last = last.max(visit.at);
        }
        is_wanted
    };
    let copies = export.records.copy_archive([export.dir, folder], is_wanted, each_line)?;
    Ok((copies, last))
}

/// Deletes files of an earlier export of the same crawl that are not in the index any more.
fn forget_others(folder: &Path, copies: &ArchiveCopies) -> Result<(), ExportError> {
    for entry in fs::read_dir(folder).map_err(unwritable(folder))? {
        let entry = entry.map_err(unwritable(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_of_archive = name.starts_with("webloom-") && name.ends_with(".warc.gz");
        if is_of_archive && !copies.files.contains(&name) {
            fs::remove_file(entry.path()).map_err(unwritable(&entry.path()))?;
        }
    }
    Ok(())
}
