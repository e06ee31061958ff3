//! WARC files with the archived answers, and an index of them.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use super::{
    place,
    request::{Export, ExportError, Exported, unwritable},
};
use crate::{
    session::directory::{ArchiveCopies, ArchivedVisit, ChangedSince, RecordCompression},
    time::Moment,
};

/// The index, and what it is called until it is whole.
const INDEX: &str = "index.cdxj";
const NEW_INDEX: &str = "index.cdxj.new";

/// Writes a folder of them.
pub(super) fn write(export: &Export<'_>) -> Result<Exported, ExportError> {
    let known = export.records.archive_files()?;
    let is_of_crawl = |name: &str| known.iter().any(|known| run_of(known) == run_of(name));
    let are_own = |_: &Path| warc_files(&export.out).is_ok_and(|files| files.iter().all(|name| is_of_crawl(name)));
    place::begin_folder(export, INDEX, are_own)?;
    let (path, new) = (export.out.join(INDEX), export.out.join(NEW_INDEX));
    let mut index = BufWriter::new(File::create(&new).map_err(unwritable(&new))?);
    let (copies, _) = copy(export, &export.out, |line| writeln!(index, "{line}").map_err(unwritable(&new)))?;
    index.flush().and_then(|()| fs::rename(&new, &path)).map_err(unwritable(&path))?;
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

/// Deletes files of an earlier export that are not in the index any more.
fn forget_others(folder: &Path, copies: &ArchiveCopies) -> Result<(), ExportError> {
    let files = warc_files(folder).map_err(unwritable(folder))?;
    files.iter().filter(|name| !copies.files.contains(name)).try_for_each(|name| {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(unwritable(&path))
    })
}

/// The WARC files in a folder.
pub(super) fn warc_files(folder: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    Ok(names.into_iter().filter(|name| RecordCompression::of_name(name).is_some()).collect())
}

/// What the names of all files of a crawl begin with.
fn run_of(name: &str) -> Option<&str> {
    name.rsplit_once('-').map(|(run, _)| run)
}
