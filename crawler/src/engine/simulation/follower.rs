//! [`follow`]: a program that follows the crawl, and adds a link to each page that has one less than the web says.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    super::{EventKind, Steering, VisitEvents},
    spelling::of_web,
    world::World,
};
use crate::store::sqlite::Records;

/// What the program knows, and what it heard.
#[derive(Debug, Default)]
pub(super) struct Follower {
    /// The last link of each page, which its body does not have.
    pub(super) withheld: HashMap<String, String>,
    /// Pages that were handed out.
    handed: BTreeSet<String>,
}

/// Follows the crawl of this world for as long as its process lives. Must be called within a runtime.
pub(super) fn follow(world: &Arc<Mutex<World>>) -> VisitEvents {
    let (events, mut receiver) = VisitEvents::new();
    let world = Arc::clone(world);
    tokio::spawn(async move {
        while let Some(handed) = receiver.recv().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let url = of_web(&handed.event.url);
            let mut world = world.lock().unwrap();
            let Some(follower) = &mut world.follower else { continue };
            let has_links = matches!(&handed.event.kind, EventKind::Page(_) | EventKind::Unchanged(Some(_)));
            let link = follower.withheld.get(&url).filter(|_| has_links);
            let links = link.and_then(|link| handed.event.url.join(link).ok()).into_iter().collect();
            if !matches!(&handed.event.kind, EventKind::Failed { .. } | EventKind::Redirected(_)) {
                follower.handed.insert(url);
            }
            // A visit that was given up does not wait for it.
            drop(handed.reply.send(Steering { skips_links: false, links }));
        }
    });
    events
}

impl Follower {
    /// Each page that is stored was handed out.
    pub(super) fn judge(&self, dir: &Path) -> Result<(), String> {
        let records = Records::open(dir).map_err(|error| error.to_string())?;
        let query =
            "SELECT DISTINCT coalesce(key, url.url) FROM visit JOIN url ON url.id = visit.url WHERE outcome = 'stored'";
        let mut select = records.connection().prepare(query).map_err(|error| error.to_string())?;
        let stored = select.query_map([], |row| row.get::<_, String>(0)).map_err(|error| error.to_string())?;
        for url in stored {
            let url = url.map_err(|error| error.to_string())?;
            if !self.handed.contains(&url) {
                return Err(format!("{url} was stored, and not handed out"));
            }
        }
        Ok(())
    }
}
