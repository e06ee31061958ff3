//! Reads one moment of a crawl: what belongs together is read in one transaction, though others write.

use std::{thread, time::Duration};

use rusqlite::{Connection, ffi};

/// How often a reader begins while a crawl writes, and how long it waits between two tries: two seconds in all.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Reads what belongs together, of one moment of a crawl that may be running.
///
/// A reader may find the shared memory half written. One that can write to it waits for the writer and looks again; any other
/// is refused by `SQLite` though the writer is done at once (`walIndexReadHdr`), and so begins again here.
pub(super) fn of_one_moment<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    if !connection.is_autocommit() {
        return read();
    }
    let moment = connection.unchecked_transaction()?;
    let mut tries = 1;
    loop {
        // There may be a moment for each line that is shown: it is prepared once.
        match connection.prepare_cached("SELECT 1 FROM sqlite_schema").and_then(|mut first| first.exists([])) {
            Err(error) if is_half_written(&error) && tries < TRIES => thread::sleep(BETWEEN_TRIES),
            begun => {
                begun?;
                break;
            }
        }
        tries += 1;
    }
    let answer = read()?;
    // What was read holds, also where a damaged database does not let a transaction end well.
    drop(moment.commit());
    Ok(answer)
}

/// Whether what refuses a reader is shared memory that the writer has not completed.
fn is_half_written(error: &rusqlite::Error) -> bool {
    let refused = error.sqlite_error().map(|error| error.extended_code);
    refused.is_some_and(|code| [ffi::SQLITE_READONLY_RECOVERY, ffi::SQLITE_READONLY_CANTINIT].contains(&code))
}
