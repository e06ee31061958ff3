//! How much of what changed was found to move by itself, for the status.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::super::schema;
use crate::store::NoiseFigures;

impl NoiseFigures {
    /// Adds them to those of a sequence.
    pub(super) fn add_to(self, connection: &Connection, sequence: u32) -> Result<()> {
        if self == Self::default() {
            return Ok(());
        }
        let kept = figures(connection, sequence)?;
        let sum = Self {
            hidden: kept.hidden + self.hidden,
            looked: kept.looked + self.looked,
            withdrawn: kept.withdrawn + self.withdrawn,
        };
        let sum = serde_json::to_string(&sum).expect("figures are plain JSON");
        connection.execute("UPDATE sequence SET noise = ? WHERE n = ?", params![sum, sequence]).map(|_| ())
    }
}

/// Those of a sequence.
pub(in crate::store::sqlite) fn figures(connection: &Connection, sequence: u32) -> Result<NoiseFigures> {
    if !schema::has_mask_table(connection)? {
        return Ok(NoiseFigures::default());
    }
    let kept = "SELECT noise FROM sequence WHERE n = ?";
    let kept: Option<String> = connection.query_row(kept, [sequence], |row| row.get(0)).optional()?.flatten();
    Ok(kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default())
}
