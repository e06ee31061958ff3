//! Archive files without the records of some URLs.
//!
//! Invariant: such a file has a new name. Rows name the old one until they are changed, and the new one from then on.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
};

use rusqlite::{Connection, params};

use super::{
    FOLDER, INDEX, RecordCompression, compression,
    copies::{ArchivedVisit, CopyUse, PLACES, copy_file},
    failed, is_kept, sync_folder, unwritable,
};
use crate::store::StoreError;

/// A file that was written anew.
pub(in crate::store::sqlite) struct RewrittenFile {
    id: i64,
    name: String,
    /// How long it is; 0 if nothing is left of it.
    bytes: u64,
}

/// Writes each file anew that has records of such a URL.
pub(in crate::store::sqlite) fn rewrite(
    connection: &Connection,
    dir: &Path,
    is_removed: impl Fn(&str) -> bool,
) -> Result<Vec<RewrittenFile>, StoreError> {
    connection.execute_batch(PLACES).map_err(failed())?;
    if !is_kept(connection).map_err(failed())? {
        return Ok(Vec::new());
    }
    let having = "SELECT id, name FROM archive_file WHERE id IN (
            SELECT file FROM archive_record WHERE url IN (SELECT url FROM temp.removed)) ORDER BY id";
    let mut select = connection.prepare(having).map_err(failed())?;
    let files = select.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let files: Vec<(i64, String)> = files.and_then(Iterator::collect).map_err(failed())?;
    let folder = dir.join(FOLDER);
    let mut rewritten = Vec::new();
    for (id, old) in files {
        let name = next_name(&old);
        let path = folder.join(&name);
        let mut is_wanted = |visit: &ArchivedVisit<'_>| !is_removed(visit.url);
        let answers = copy_file((connection, &folder), (id, &old), (&path, CopyUse::Beside), &mut is_wanted)?;
        let bytes = if answers > 0 { fs::metadata(&path).map_err(unwritable(&path))?.len() } else { 0 };
        rewritten.push(RewrittenFile { id, name, bytes });
    }
    if !rewritten.is_empty() {
        sync_folder(&folder)?;
    }
    Ok(rewritten)
}

/// The name of a file that takes the place of another: `…-00001.warc.gz` becomes `…-00001.2.warc.gz`.
fn next_name(name: &str) -> String {
    let suffix = RecordCompression::of_name(name).map_or("", RecordCompression::suffix);
    let stem = name.strip_suffix(suffix).unwrap_or(name);
    let (stem, number) =
        stem.rsplit_once('.').and_then(|(stem, end)| Some((stem, end.parse().ok()?))).unwrap_or((stem, 1_u32));
    format!("{stem}.{}{suffix}", number + 1)
}

/// Forgets the records of the URLs, and has rows name the new files; how many records went.
pub(in crate::store::sqlite) fn forget_records(
    transaction: &Connection,
    files: &[RewrittenFile],
) -> rusqlite::Result<u64> {
    let forgotten =
        transaction.execute("DELETE FROM archive_record WHERE url IN (SELECT url FROM temp.removed)", [])?;
    for RewrittenFile { id, name, bytes } in files {
        if *bytes == 0 {
            transaction.execute("DELETE FROM archive_file WHERE id = ?", [id])?;
        } else {
            transaction
                .execute("UPDATE archive_file SET name = ?, bytes = ? WHERE id = ?", params![name, bytes, id])?;
        }
    }
    let moved = "UPDATE archive_record SET start = copied.start, length = copied.length, whole = copied.whole
         FROM temp.copied WHERE copied.visit = archive_record.visit";
    transaction.execute(moved, [])?;
    Ok(forgotten as u64)
}

/// Deletes files of the archive that no row names, and its index, which names what is not there.
pub(in crate::store::sqlite) fn delete_others(connection: &Connection, dir: &Path) -> Result<(), StoreError> {
    let folder = dir.join(FOLDER);
    if !folder.exists() || !is_kept(connection).map_err(failed())? {
        return Ok(());
    }
    let mut named = connection.prepare("SELECT 1 FROM archive_file WHERE name = ?").map_err(failed())?;
    for entry in fs::read_dir(&folder).map_err(unwritable(&folder))? {
        let path = entry.map_err(unwritable(&folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_of_archive = name.starts_with("webloom-") && RecordCompression::of_name(&name).is_some();
        let is_index = name.starts_with(INDEX);
        if is_index || (is_of_archive && !named.exists([&*name]).map_err(failed())?) {
            fs::remove_file(&path).map_err(unwritable(&path))?;
        }
    }
    sync_folder(&folder)
}

/// Reads the new files, in which no record of such a URL may be.
pub(in crate::store::sqlite) fn verify(
    dir: &Path,
    files: &[RewrittenFile],
    is_removed: impl Fn(&str) -> bool,
) -> Result<(), StoreError> {
    for RewrittenFile { name, .. } in files.iter().filter(|file| file.bytes > 0) {
        let path = dir.join(FOLDER).join(name);
        let unreadable = |source| StoreError::Archive { path: path.clone(), source };
        let mut lines = BufReader::new(File::open(&path).and_then(compression::text).map_err(unreadable)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(unreadable)? > 0 {
            let url = line.strip_prefix(b"WARC-Target-URI: ").and_then(|url| std::str::from_utf8(url).ok());
            if url.is_some_and(|url| is_removed(url.trim_end())) {
                return Err(unreadable(std::io::Error::other("a record is still there that was to be removed")));
            }
            line.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_a_file_gets_another_name() {
        assert_eq!(next_name("webloom-1-ab-00001.warc.gz"), "webloom-1-ab-00001.2.warc.gz");
        assert_eq!(next_name("webloom-1-ab-00001.2.warc.zst"), "webloom-1-ab-00001.3.warc.zst");
    }
}
