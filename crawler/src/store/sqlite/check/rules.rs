//! What single rows must not say: a query for each invariant.

/// The state of every URL, now and at the end of each earlier sequence where no visit says it.
pub(super) const STAND: &str = "stand (url, sequence, state, reason) AS (
    SELECT id, admitted_in, state, reason FROM url UNION ALL SELECT url, sequence, state, reason FROM past)";

/// The same of the URLs that were checked, where there is a table of them.
pub(super) const CHECKED_RULES: &[(&str, &str)] = &[(
    "what is said of a checked URL is said whole",
    "SELECT 'link_check ' || id || ' is ' || quote(outcome) FROM link_check
     WHERE (checked_in IS NULL) <> (outcome IS NULL) OR (outcome IS 'redirected') <> (target IS NOT NULL)
         OR (outcome IN ('checked', 'redirected', 'broken') AND (status IS NULL OR checked_at IS NULL))
         OR (outcome IN ('failed', 'abandoned') AND reason IS NULL) OR checked_in > wanted_in",
)];

/// The same of history that was forgotten, where it is kept how much.
pub(super) const FORGOTTEN_RULES: &[(&str, &str)] = &[(
    "the crawl knows how far its history was forgotten",
    "SELECT 'crawl ' || id FROM crawl
     WHERE forgotten_to IS NULL AND EXISTS (SELECT 1 FROM sequence WHERE pruned AND revisit IS NULL)",
)];

/// Where it is kept what moves by itself.
pub(super) const NOISE_RULES: &[(&str, &str)] = &[(
    "a second look is said whole, and a change that waits for one names its visit",
    "SELECT 'url ' || url FROM second_look
     WHERE (rule IS NOT NULL AND digest IS NULL) OR (body IS NOT NULL AND rule IS NULL) OR (body IS NULL) <> (places IS NULL)
     UNION ALL SELECT 'url ' || url FROM page_state WHERE doubt = 'unsure' AND unsure IS NULL
     UNION ALL SELECT 'url ' || page_state.url FROM page_state JOIN visit ON visit.id = unsure WHERE visit.url <> page_state.url",
)];

/// The same of URLs that were removed, where there is a table of them.
pub(super) const REMOVED_RULES: &[(&str, &str)] = &[(
    "a URL that was removed is not there",
    "SELECT 'url ' || url.id FROM url WHERE EXISTS (SELECT 1 FROM removed_url WHERE removed_url.fingerprint = url.fingerprint)",
)];

/// The same of crawls of which no URL was removed.
pub(super) const WHOLE_RULES: &[(&str, &str)] = &[(
    "what is no start, and no sitemap that no URL led to, was found on a page",
    "SELECT 'url ' || id FROM url WHERE via IS NULL AND hop <> 'start' AND (hop <> 'sitemap' OR depth <> 0)",
)];

/// What must select nothing: the invariant, and a query for the rows that break it, described in one text column. The visits of a URL are
/// looked for only where a later sequence has one: those of a first sequence have no index.
pub(super) const RULES: &[(&str, &str)] = &[
    (
        "a URL is queued, finished or abandoned",
        "SELECT 'url ' || url || ' is ' || quote(state) FROM stand WHERE state NOT IN ('queued', 'finished', 'abandoned')",
    ),
    (
        "a finished URL has a visit of its own",
        "SELECT 'url ' || url.id || ', visit ' || quote(url.visit) FROM url LEFT JOIN visit ON visit.id = url.visit
         WHERE state = 'finished' AND (visit.url, visit.sequence) IS NOT (url.id, admitted_in)",
    ),
    (
        "a queued or abandoned URL has no visit in the sequence it was admitted in, unless that was revisited",
        "SELECT 'url ' || url.id || ' is ' || state FROM url JOIN visit ON visit.id = url.visit
         WHERE state <> 'finished' AND visit.sequence >= url.admitted_in
             AND NOT EXISTS (SELECT 1 FROM sequence WHERE n = url.admitted_in AND revisited IS NOT NULL)",
    ),
    (
        "a visit belongs to a finished URL, which has at most one in a sequence that was not revisited",
        "SELECT 'visit ' || id || ' of url ' || url FROM visit
         WHERE NOT EXISTS (SELECT 1 FROM url WHERE url.id = visit.url AND url.visit = visit.id AND state = 'finished')
             AND NOT EXISTS (SELECT 1 FROM url WHERE url.id = visit.url AND admitted_in > visit.sequence
                             AND NOT EXISTS (SELECT 1 FROM past WHERE past.url = url.id AND past.sequence = visit.sequence)
                             AND NOT EXISTS (SELECT 1 FROM visit AS later WHERE later.url = url.id
                                             AND later.sequence = visit.sequence AND later.id > visit.id))
             AND NOT EXISTS (SELECT 1 FROM url JOIN sequence ON n = visit.sequence AND revisited IS NOT NULL
                             WHERE url.id = visit.url AND url.visit >= visit.id)",
    ),
    (
        "a visit says what changed since the copy before it",
        "SELECT 'visit ' || id || ' is ' || quote(change) FROM visit
         WHERE outcome = 'stored' AND same IS NULL AND change IS NOT CASE iif(sequence > 0, digest = (
                 SELECT copy.digest FROM visit AS copy
                 WHERE copy.url = visit.url AND copy.sequence < visit.sequence AND copy.outcome = 'stored'
                 ORDER BY copy.sequence DESC LIMIT 1), NULL)
             WHEN 1 THEN 'unchanged' WHEN 0 THEN 'changed' ELSE 'new' END
             AND NOT EXISTS (SELECT 1 FROM sequence WHERE n <= visit.sequence AND coalesce(revisit, revisited, pruned) IS NOT NULL)
         UNION ALL SELECT 'visit ' || id || ' is ' || quote(change) FROM visit
         WHERE outcome = 'stored' AND (change IS NULL OR change NOT IN ('new', 'changed', 'unchanged'))
         UNION ALL SELECT 'visit ' || visit.id || ' is ' || quote(visit.change) FROM visit LEFT JOIN visit AS copy ON copy.id = visit.same
         WHERE visit.same IS NOT NULL AND ((visit.change, visit.outcome, visit.digest, visit.url) IS NOT ('unchanged', 'stored', copy.digest, copy.url)
             OR copy.same IS NOT NULL OR copy.id >= visit.id OR length(visit.links) > 0
             OR (visit.status = 304 AND (visit.content_type, visit.html, visit.bytes, visit.title, visit.description, visit.canonical, visit.needs_js, visit.truncated, visit.text)
                 IS NOT (copy.content_type, copy.html, copy.bytes, copy.title, copy.description, copy.canonical, copy.needs_js, copy.truncated, copy.text)))
         UNION ALL SELECT 'visit ' || id || ' is ' || change FROM visit
         WHERE outcome <> 'stored' AND change IS NOT NULL AND (change, outcome) IS NOT ('gone', 'broken')",
    ),
    (
        "the copy of a URL is an earlier visit to it that stored the page with its links",
        "SELECT 'url ' || url.id FROM url LEFT JOIN visit AS kept ON kept.id = url.copy
         WHERE copy IS NOT NULL AND ((kept.url, kept.outcome, kept.same) IS NOT (url.id, 'stored', NULL) OR kept.id >= url.visit)
         UNION ALL SELECT 'url ' || url.id FROM url JOIN visit ON visit.id = url.visit WHERE visit.outcome = 'stored' AND visit.same IS NOT url.copy
         UNION ALL SELECT 'visit ' || visit.id FROM visit LEFT JOIN visit AS copy ON copy.id = visit.before
         WHERE visit.before IS NOT NULL AND ((copy.url, copy.outcome) IS NOT (visit.url, 'stored') OR copy.id >= visit.id)
         UNION ALL SELECT 'visit ' || id FROM visit CROSS JOIN sequence ON n = sequence
         WHERE change IN ('changed', 'gone') AND before IS NULL AND text_rule IS NOT NULL AND pruned IS NULL",
    ),
    (
        "an earlier state of a URL belongs to a sequence before its latest one",
        "SELECT 'url ' || past.url || ' in sequence ' || sequence FROM past LEFT JOIN url ON url.id = past.url
         WHERE url.id IS NULL OR sequence >= admitted_in OR sequence NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a URL that was admitted again has a later number than its first, and an earlier state",
        "SELECT 'url ' || id FROM url
         WHERE readmission <= id OR (readmission IS NOT NULL AND NOT EXISTS (SELECT 1 FROM past WHERE past.url = url.id)
             AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.url = url.id AND visit.sequence < admitted_in)
             AND NOT EXISTS (SELECT 1 FROM sequence WHERE pruned))
         UNION ALL SELECT 'url ' || url.id FROM visit CROSS JOIN url ON url.id = visit.url
         WHERE visit.sequence < admitted_in AND readmission IS NULL
             AND NOT EXISTS (SELECT 1 FROM sequence WHERE n > visit.sequence AND coalesce(revisit, revisited) IS NOT NULL)",
    ),
    (
        "an abandoned URL has a reason",
        "SELECT 'url ' || url FROM stand WHERE state = 'abandoned' AND reason IS NULL",
    ),
    (
        "only a queued URL that has failed before waits for a retry",
        "SELECT 'url ' || id FROM url WHERE due IS NOT NULL AND (state <> 'queued' OR reason IS NULL)
         UNION ALL SELECT 'url ' || id FROM url WHERE due IS NULL AND state = 'queued' AND (attempts > 0 OR reason IS NOT NULL)",
    ),
    (
        "what is beyond a limit is not due, and nothing else is never due",
        "SELECT 'url ' || id FROM url WHERE (reason IS 'section' AND state = 'queued') <> (due IS 1 << 53)",
    ),
    (
        "a URL's host exists",
        "SELECT 'url ' || url.id FROM url LEFT JOIN host ON host.id = url.host WHERE host.id IS NULL",
    ),
    (
        "hosts are numbered from 0 without a gap, each once",
        "SELECT 'host ' || id FROM host
         WHERE id <> 0 AND NOT EXISTS (SELECT 1 FROM host AS before WHERE before.id = host.id - 1)
         UNION ALL SELECT 'host ' || max(id) FROM host GROUP BY origin HAVING count(*) > 1",
    ),
    (
        "a URL was admitted in a sequence that exists",
        "SELECT 'url ' || id FROM url WHERE admitted_in NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a drained sequence has left nothing queued",
        "SELECT 'sequence ' || n FROM stand CROSS JOIN sequence ON n = stand.sequence WHERE state = 'queued' AND end = 'drained'
         UNION ALL SELECT 'sequence ' || n FROM sequence CROSS JOIN url ON admitted_in < n
         WHERE n = (SELECT max(n) FROM sequence) AND end = 'drained' AND revisit IS NOT NULL",
    ),
    (
        "a visit was made in a sequence that exists",
        "SELECT 'visit ' || id FROM visit WHERE sequence NOT IN (SELECT n FROM sequence)",
    ),
    (
        "a start URL has depth 0 and was found on no page",
        "SELECT 'url ' || id FROM url WHERE hop = 'start' AND (depth <> 0 OR via IS NOT NULL)",
    ),
    (
        "a link is at most one level deeper than its page, and the target of a redirect at most as deep as the redirect",
        "SELECT 'url ' || id FROM url
         WHERE hop <> 'start' AND via IS NOT NULL AND NOT coalesce((
                 SELECT page.admitted_in > url.admitted_in OR url.depth <= page.depth + (url.hop <> 'redirect')
                 FROM url AS page WHERE page.id = url.via AND page.admitted_in >= url.admitted_in), 0)
             AND NOT EXISTS (SELECT 1 FROM sequence WHERE coalesce(revisit, revisited) IS NOT NULL)",
    ),
    (
        "a URL's place in the order follows from its depth, its weight and what is known of it",
        // What is known of it is in the lowest bits; those of a URL that an earlier version has fetched have none. What comes before all
        // others is 2^60 less.
        "SELECT 'url ' || id
         FROM (SELECT id, depth, iif(rank < -(1 << 59), rank + (1 << 60), rank) AS rank FROM url) WHERE abs(rank) <> depth
             AND NOT ((rank & 63) < 48 AND (((depth << 6) + (rank & 63) - rank) & 0x3FFFFFFFFF) = 0
                 AND ((depth << 6) + (rank & 63) - rank) >> 38 BETWEEN 1 AND 1000000)
             AND NOT ((rank & 63) < 48 AND (depth << 20) - (rank >> 6) BETWEEN 1 AND 1000000)
             AND NOT (((depth - rank) & 0xFFFFFFFF) = 0 AND (depth - rank) >> 32 BETWEEN 1 AND 1000000)
             AND (depth << 20) - rank NOT BETWEEN 1 AND 1000000",
    ),
    (
        "a visit's outcome agrees with its status, digest and target",
        "SELECT 'visit ' || id || ' is ' || quote(outcome) FROM visit WHERE NOT coalesce(CASE outcome
             WHEN 'stored' THEN (status BETWEEN 200 AND 299 OR (status = 304 AND same IS NOT NULL)) AND digest IS NOT NULL AND length(digest) = 32
             WHEN 'redirected' THEN status BETWEEN 300 AND 399 AND redirect IS NOT NULL
             WHEN 'broken' THEN status IS NOT NULL AND status NOT BETWEEN 200 AND 299
             WHEN 'failed' THEN status IS NULL AND reason IS NOT NULL
             ELSE 0 END, 0)",
    ),
    (
        "kept links are whole",
        "SELECT 'visit ' || id FROM visit WHERE typeof(links) <> 'blob' OR length(links) % 8 <> 0",
    ),
    (
        "a visit that stored a page and has its links itself has their hash, and no other has",
        "SELECT 'visit ' || id FROM visit WHERE (links_hash IS NULL) = (outcome = 'stored' AND same IS NULL)",
    ),
    (
        "a host that was visited has been asked for robots.txt",
        "SELECT DISTINCT 'host ' || host.id FROM url CROSS JOIN host ON host.id = url.host
         CROSS JOIN visit ON visit.id = url.visit WHERE robots_fetched_at IS NULL AND visit.outcome <> 'failed'",
    ),
    (
        "what is remembered of a page names copies of it",
        "SELECT 'url ' || page_state.url FROM page_state WHERE NOT EXISTS (SELECT 1 FROM url WHERE url.id = page_state.url)
            OR (good IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM visit WHERE visit.id = good AND visit.url = page_state.url AND visit.outcome = 'stored'))
            OR (earlier IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM visit WHERE visit.id = earlier AND visit.url = page_state.url AND visit.outcome = 'stored'))",
    ),
    (
        "what is said of a sequence's end, audit and sweep is said whole",
        "SELECT 'sequence ' || n FROM sequence
         WHERE (end IS NOT NULL AND (ended_at IS NULL OR cache IS NULL)) OR (swept IS NULL) <> (swept_links IS NULL)
            OR (audit_sample IS NOT NULL AND (audit_urls IS NULL OR audit_lost IS NULL))
            OR hash_seed <> (SELECT hash_seed FROM sequence WHERE n = 0)",
    ),
    (
        "what is said of a host is said whole",
        "SELECT 'host ' || id FROM host
         WHERE (failures IS NULL) + (ailing_since IS NULL) + (cause IS NULL) + (not_before IS NULL) + (wait IS NULL) NOT IN (0, 5)
            OR (robots_fetched_at IS NULL AND coalesce(robots_status, robots_body, robots_first_failed, crawl_delay, robots_seen, address) IS NOT NULL)
            OR (robots_first_failed IS NULL AND robots_status BETWEEN 200 AND 299 AND robots_body IS NULL)
            OR (robots_body IS NOT NULL AND robots_status IS NULL)
            OR (sitemap_guessed IS NOT NULL AND sitemaps_in IS NULL)",
    ),
    (
        "what is said of a change is said whole",
        "SELECT 'change ' || id FROM change WHERE (url IS NULL) = (address IS NULL)
            OR (change = 'moved' AND target IS NULL)
            OR (change = 'site_wide' AND count IS NULL) OR (change NOT IN ('site_wide', 'volatile') AND count IS NOT NULL)
            OR (change = 'site_wide') <> (edit IS NOT NULL)
         UNION ALL SELECT 'url ' || url FROM page_state WHERE (doubt IS NULL) <> (doubted_since IS NULL)",
    ),
    (
        "the crawl knows up to which visit it has done what it did",
        "SELECT 'crawl ' || id FROM crawl
         WHERE (looked_at IS NULL AND EXISTS (SELECT 1 FROM change)) OR (learnt IS NULL AND EXISTS (SELECT 1 FROM revisit))
            OR (weighed IS NULL AND EXISTS (SELECT 1 FROM revisit WHERE weight > 0))
            OR (pruned_to IS NULL) <> NOT EXISTS (SELECT 1 FROM sequence WHERE pruned)",
    ),
    (
        "as many pages of each class are due as are counted",
        "SELECT 'class ' || class FROM revisit_class AS counted
         WHERE pages <> (SELECT count(*) FROM revisit WHERE revisit.class = counted.class)
         UNION ALL SELECT 'url ' || url FROM revisit WHERE class NOT IN (SELECT class FROM revisit_class)",
    ),
];

/// The same for what is known of lost URLs.
pub(super) const LOST_RULES: &[(&str, &str)] = &[
    (
        "a lost URL was admitted, or it has a state that says why not",
        "SELECT 'lost ' || id || ' is ' || quote(state) FROM lost WHERE NOT CASE
             WHEN state IN ('rescued', 'found') THEN admitted IS NOT NULL
             WHEN state IN ('lost', 'no_longer_linked', 'parent_unreachable') THEN admitted IS NULL
             ELSE 0 END",
    ),
    (
        "a lost URL that was admitted is the one in its row",
        "SELECT 'lost ' || lost.id FROM lost LEFT JOIN url ON url.id = lost.admitted
         WHERE admitted IS NOT NULL AND substr(url.fingerprint, 1, 8) IS NOT substr(lost.fingerprint, 1, 8)",
    ),
    (
        "a lost URL was found by audit or sweep, in a sequence that exists, at a URL that exists",
        "SELECT 'lost ' || id FROM lost WHERE found_by NOT IN ('audit', 'sweep') OR sequence NOT IN (SELECT n FROM sequence)
             OR via NOT IN (SELECT id FROM url) OR length(fingerprint) NOT IN (8, 16)",
    ),
    (
        "a lost URL was admitted in the sequence that lost it, or in a later one that recovered it",
        "SELECT 'lost ' || lost.id FROM lost
         WHERE recovered_in <= lost.sequence OR (admitted IS NULL AND recovered_in IS NOT NULL)
             OR (admitted IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM url
                                 WHERE url.id = admitted AND admitted_in = coalesce(recovered_in, lost.sequence))
                 AND NOT EXISTS (SELECT 1 FROM past
                                 WHERE past.url = admitted AND past.sequence = coalesce(recovered_in, lost.sequence))
                 AND NOT EXISTS (SELECT 1 FROM visit
                                 WHERE visit.url = admitted AND visit.sequence = coalesce(recovered_in, lost.sequence))
                 AND NOT EXISTS (SELECT 1 FROM sequence WHERE coalesce(revisit, pruned) IS NOT NULL))",
    ),
    (
        "a URL that a sequence lost and did not admit has no state in it",
        "SELECT 'lost ' || lost.id FROM url
         CROSS JOIN lost ON substr(lost.fingerprint, 1, 8) = substr(url.fingerprint, 1, 8)
         WHERE (lost.admitted IS NULL OR lost.recovered_in IS NOT NULL) AND (url.admitted_in = lost.sequence
             OR EXISTS (SELECT 1 FROM past WHERE past.url = url.id AND past.sequence = lost.sequence)
             OR (url.admitted_in > lost.sequence
                 AND EXISTS (SELECT 1 FROM visit WHERE visit.url = url.id AND visit.sequence = lost.sequence)))",
    ),
];

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::store::sqlite::schema;

    /// How each rule is answered: steps by number, with that of the step around each.
    fn plans() -> impl Iterator<Item = (&'static str, Vec<(u32, u32, String)>)> {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, 0).unwrap();
        connection.execute_batch(schema::INDEX_OF_VISITS).unwrap();
        RULES.iter().chain(LOST_RULES).map(move |(invariant, broken)| {
            let query = format!("EXPLAIN QUERY PLAN WITH {STAND} {broken}");
            let mut plan = connection.prepare(&query).unwrap();
            let steps = plan.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(3)?))).unwrap();
            (*invariant, steps.collect::<Result<_, _>>().unwrap())
        })
    }

    /// Whatever is kept aside grows with the crawl; hosts are few beside its URLs.
    #[test]
    fn no_rule_keeps_a_table_aside() {
        for (invariant, steps) in plans().filter(|(invariant, _)| !invariant.contains("host")) {
            let aside = |step: &str| ["MATERIALIZE", "USE TEMP", "AUTOMATIC"].iter().any(|word| step.contains(word));
            assert_eq!(steps.iter().find(|(_, _, step)| aside(step)), None, "{invariant}");
        }
    }

    /// A look at a whole table for each row of another takes for ever where both are large.
    #[test]
    fn no_rule_reads_a_table_once_a_row() {
        for (invariant, steps) in plans() {
            let correlated = steps.iter().filter(|(_, _, step)| step.starts_with("CORRELATED"));
            for (of, ..) in correlated {
                let scan = steps.iter().find(|(_, parent, step)| parent == of && step.starts_with("SCAN"));
                assert_eq!(scan, None, "{invariant}");
            }
        }
    }
}
