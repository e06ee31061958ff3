//! What must hold of a crawl, judged by the web and by what its servers saw.

mod archived;
mod bounds;
mod complete;
mod depths;
mod ends;
mod late_scope;
mod link_checks;
mod reported;
mod requests;
mod rows;

pub(super) use ends::justify;

use super::{copies, crawl::SimulatedCrawl};
use crate::store::{ReadSide, sqlite::Records};

/// Judges a sequence that is complete.
pub(super) fn judge_sequence(crawl: &SimulatedCrawl) -> Result<(), String> {
    rows::judge(crawl)?;
    copies::judge(crawl.folder.path())?;
    archived::judge(crawl)?;
    if let Some(follower) = &crawl.world.lock().unwrap().follower {
        follower.judge(crawl.folder.path())?;
    }
    requests::judge(crawl)?;
    link_checks::judge(crawl)?;
    bounds::judge(crawl)
}

/// Judges what is left in the crawl directory at the end.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let report = records.check().map_err(|_| "check cannot read it".to_owned())?;
    if report.findings.is_empty() { Ok(()) } else { Err(format!("check finds {:?}", report.findings)) }
}
