//! What a key is called as a variable and as a flag.

/// The keys that have a flag of their own, with its name (`-q` and `-v` together make `log.level`). The test of the
/// flags holds both sides together.
const FLAGS: [(&str, &str); 64] = [
    ("scope.kind", "scope"),
    ("scope.include", "include"),
    ("scope.exclude", "exclude"),
    ("key.strip_query", "strip-query"),
    ("sources.sitemap", "sitemap"),
    ("budget.max_pages", "max-pages"),
    ("budget.max_bytes", "max-bytes"),
    ("budget.max_time", "max-time"),
    ("budget.max_depth", "max-depth"),
    ("politeness.delay", "delay"),
    ("politeness.per_host", "per-host"),
    ("politeness.concurrency", "concurrency"),
    ("politeness.max_rate", "max-rate"),
    ("politeness.max_bandwidth", "max-bandwidth"),
    ("politeness.hours", "hours"),
    ("robots.ignore", "ignore-robots"),
    ("fetch.user_agent", "user-agent"),
    ("fetch.headers", "header"),
    ("fetch.cookies", "cookies"),
    ("fetch.accept_language", "accept-language"),
    ("fetch.proxy", "proxy"),
    ("fetch.insecure_hosts", "insecure-host"),
    ("fetch.types", "type"),
    ("fetch.allow_private", "allow-private"),
    ("fetch.resolver", "resolver"),
    ("fetch.resolve", "resolve"),
    ("extract.nofollow", "nofollow"),
    ("extract.fields", "field"),
    ("extract.items", "items"),
    ("check.external", "check-external"),
    ("check.assets", "check-assets"),
    ("check.anchors", "check-anchors"),
    ("cache.strategy", "cache"),
    ("cache.max_lost_urls", "max-lost-urls"),
    ("cache.expected_urls", "expected-urls"),
    ("cache.layout", "cache-layout"),
    ("cache.max_memory", "max-cache-memory"),
    ("cache.reset", "reset"),
    ("cache.hash_seed", "hash-seed"),
    ("cache.audit_sample", "audit-sample"),
    ("cache.audit_rescue", "audit-rescue"),
    ("cache.sweep", "sweep"),
    ("frontier.order", "order"),
    ("frontier.priority", "priority"),
    ("schedule.every", "every"),
    ("schedule.cron", "cron"),
    ("schedule.tz", "tz"),
    ("schedule.windows", "window"),
    ("schedule.overlap", "overlap"),
    ("schedule.spread", "spread"),
    ("schedule.heartbeat", "heartbeat"),
    ("revisit.adaptive", "adaptive"),
    ("revisit.policy", "policy"),
    ("revisit.budget", "budget"),
    ("revisit.sections", "section"),
    ("change.text", "text"),
    ("change.ignore", "ignore"),
    ("change.confirm", "confirm"),
    ("change.gone_after", "gone-after"),
    ("archive.format", "archive"),
    ("archive.assets", "assets"),
    ("machine.max_memory", "max-memory"),
    ("machine.min_free_disk", "min-free-disk"),
    ("log.format", "log-format"),
];

/// The variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("WEBLOOM_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// The flag of a key, without the dashes.
pub(super) fn flag(key: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(of, _)| *of == key).map(|(_, flag)| *flag)
}
