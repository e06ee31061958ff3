//! Whether the archive has each page as its server sent it.

use sha2::{Digest as _, Sha256};

use super::super::crawl::SimulatedCrawl;
use crate::{
    store::sqlite::{ArchiveMoment, Records},
    url::WebUrl,
};

/// Judges the pages of the last sequence. Whether each record is where its row says, `check` knows.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    if !crawl.takers.archive {
        return Ok(());
    }
    let dir = crawl.folder.path();
    let records = Records::open(dir).map_err(|error| error.to_string())?;
    let stored = "SELECT url.url, visit.id, digest FROM url JOIN visit ON visit.id = url.visit
        WHERE outcome = 'stored' AND visit.sequence = ? AND digest IS NOT NULL";
    let mut select = records.connection().prepare(stored).unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let pages = select.query_map([crawl.sequence], row).unwrap();
    for (url, visit, digest) in pages.map(Result::<(String, i64, [u8; 32]), _>::unwrap) {
        let parsed = WebUrl::parse(&url).unwrap();
        let copy = records.archived(dir, &parsed, ArchiveMoment::Last).map_err(|error| error.to_string())?;
        let Some(copy) = copy else { return Err(format!("{url} was stored, and is not archived")) };
        if copy.visit != visit {
            return Err(format!("{url} was stored by visit {visit}, and archived by {}", copy.visit));
        }
        if <[u8; 32]>::from(Sha256::digest(&copy.body)) != digest {
            return Err(format!("{url} is archived as something else"));
        }
    }
    Ok(())
}
