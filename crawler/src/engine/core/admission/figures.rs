//! The figures of the URL cache.

use urlcache::LossFigure;

use super::Admission;

/// How sure the audit's interval is.
const CONFIDENCE: f64 = 0.95;

impl Admission {
    /// URLs that the cache holds.
    pub(in crate::engine::core) fn items(&self) -> u64 {
        self.cache.occupancy().items
    }

    /// The URL cache's part of the summary.
    pub(in crate::engine::core) fn figures(&self) -> serde_json::Value {
        let cache = &self.cache;
        let now = cache.occupancy();
        let [strategy, layout] = cache.names();
        let audit = cache.audit.as_ref().map(|audit| {
            let interval = audit.interval(CONFIDENCE);
            serde_json::json!({
                "share": audit.share(), "checked": audit.checked(), "false_positives": audit.false_positives(),
                "rate": audit.rate(), "low": interval.low, "high": interval.high,
            })
        });
        serde_json::json!({
            "strategy": strategy, "layout": layout, "generation": cache.generation(), "items": now.items,
            "capacity": now.capacity, "bits": now.bits, "fill": now.fill, "expected_rate": now.expected_rate,
            "expected_lost": (cache.figure() != LossFigure::Unknown).then(|| cache.expected_lost()),
            "expected_lost_is": cache.figure().name(), "budget_lost": cache.budget(), "audit": audit,
        })
    }
}
