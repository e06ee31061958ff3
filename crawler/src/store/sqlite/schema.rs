//! The schema and its migrations. `PRAGMA user_version` is the number of migrations applied.

use std::path::Path;

use rusqlite::Connection;

use super::error::database_error;
use crate::store::StoreError;

/// Marks a `SQLite` file as ours (`PRAGMA application_id`): "WEBL".
const APPLICATION_ID: u32 = 0x5745_424C;

/// Each migration takes the schema one version on; none is ever changed.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE crawl (
        id               INTEGER PRIMARY KEY CHECK (id = 1),
        created_at       INTEGER NOT NULL, -- milliseconds since 1970, as every time here
        fingerprint_seed INTEGER NOT NULL, -- secret; never changed
        settings         TEXT NOT NULL     -- JSON
    );
    CREATE TABLE area (                    -- what is in the scope by itself
        url    TEXT PRIMARY KEY,
        source TEXT NOT NULL               -- start, guessed, redirect
    ) WITHOUT ROWID;
    CREATE TABLE sequence (
        n           INTEGER PRIMARY KEY,
        began_at    INTEGER NOT NULL,
        hash_seed   INTEGER NOT NULL,      -- secret; the URL cache's
        end         TEXT,                  -- drained, budget, loss, signal, failed; null while it runs or after a kill
        ended_at    INTEGER,
        runs        INTEGER NOT NULL DEFAULT 0,
        seconds     REAL NOT NULL DEFAULT 0,
        cpu_seconds REAL NOT NULL DEFAULT 0,
        peak_memory INTEGER,
        counters    TEXT NOT NULL,         -- JSON
        exact       INTEGER NOT NULL DEFAULT 1, -- 0 once a URL cache that can err was used
        cache       TEXT                   -- JSON
    );
    CREATE TABLE host (
        id                  INTEGER PRIMARY KEY,
        origin              TEXT NOT NULL,
        robots_status       INTEGER,
        robots_body         BLOB,
        robots_fetched_at   INTEGER,       -- null: never asked
        robots_first_failed INTEGER,
        crawl_delay         INTEGER        -- milliseconds
    );
    CREATE TABLE url (
        id          INTEGER PRIMARY KEY,
        host        INTEGER NOT NULL REFERENCES host (id),
        url         TEXT NOT NULL,
        key         TEXT,                  -- null: the same as url
        fingerprint BLOB NOT NULL,         -- 16 bytes
        hop         TEXT NOT NULL,         -- start, link, redirect
        via         INTEGER REFERENCES url (id),
        depth       INTEGER NOT NULL,
        redirects   INTEGER NOT NULL DEFAULT 0,
        rank        INTEGER NOT NULL,      -- place in the host's order, least first
        admitted_in INTEGER NOT NULL REFERENCES sequence (n),
        state       TEXT NOT NULL,         -- queued, finished, abandoned
        attempts    INTEGER NOT NULL DEFAULT 0,
        due         INTEGER,               -- queued for a retry, not before
        reason      TEXT,                  -- why abandoned, or how the last attempt failed
        visit       INTEGER REFERENCES visit (id)
    );
    CREATE INDEX url_queue ON url (host, rank, id) WHERE state = 'queued' AND due IS NULL;
    CREATE INDEX url_retry ON url (host, due, id) WHERE state = 'queued' AND due IS NOT NULL;
    CREATE TABLE visit (
        id           INTEGER PRIMARY KEY,
        url          INTEGER NOT NULL REFERENCES url (id),
        sequence     INTEGER NOT NULL REFERENCES sequence (n),
        fetched_at   INTEGER NOT NULL,
        outcome      TEXT NOT NULL,        -- stored, redirected, broken, failed
        status       INTEGER,
        reason       TEXT,
        content_type TEXT,
        html         INTEGER NOT NULL,
        bytes        INTEGER NOT NULL,     -- decoded
        wire_bytes   INTEGER NOT NULL,     -- as received
        digest       BLOB,                 -- SHA-256 of the decoded body
        title        TEXT,
        redirect     TEXT,
        truncated    TEXT,                 -- size, time, expansion, disconnect
        links        BLOB NOT NULL         -- 8 bytes each: leading half of the targets' fingerprints
    );
",
    "
    -- Sequences beyond the first. Rows admitted once stay as small as they were: their ticket is their id.
    ALTER TABLE url ADD COLUMN readmission INTEGER; -- number of its latest admission; null: it was admitted once
    ALTER TABLE url ADD COLUMN ticket INTEGER AS (coalesce(readmission, id)) VIRTUAL;
    DROP INDEX url_queue;
    DROP INDEX url_retry;
    CREATE INDEX url_queue ON url (admitted_in, host, rank, ticket) WHERE state = 'queued' AND due IS NULL;
    CREATE INDEX url_retry ON url (admitted_in, host, due, ticket) WHERE state = 'queued' AND due IS NOT NULL;
    CREATE UNIQUE INDEX url_readmission ON url (readmission) WHERE readmission IS NOT NULL;
    ALTER TABLE visit ADD COLUMN change TEXT;       -- new, changed, unchanged, gone; null where none of them is known
    UPDATE visit SET change = 'new' WHERE outcome = 'stored';
    CREATE TABLE history (                          -- how a URL stood at the end of an earlier sequence
        url       INTEGER NOT NULL REFERENCES url (id),
        sequence  INTEGER NOT NULL REFERENCES sequence (n),
        hop       TEXT NOT NULL,
        via       INTEGER REFERENCES url (id),
        depth     INTEGER NOT NULL,
        state     TEXT NOT NULL,
        reason    TEXT,
        visit     INTEGER REFERENCES visit (id),    -- its visit in that sequence
        PRIMARY KEY (url, sequence)
    ) WITHOUT ROWID;
",
    "
    CREATE TABLE lost (                    -- URLs that the URL cache refused by mistake
        id           INTEGER PRIMARY KEY,
        sequence     INTEGER NOT NULL REFERENCES sequence (n),
        fingerprint  BLOB NOT NULL,        -- 16 bytes, or the leading 8 where only a link is known
        url          TEXT,                 -- null where only a link is known
        found_by     TEXT NOT NULL,        -- audit, sweep
        found_at     INTEGER NOT NULL,
        via          INTEGER REFERENCES url (id), -- a page that links to it
        swept        INTEGER NOT NULL DEFAULT 0,  -- 1: the sweep found it without a row
        state        TEXT NOT NULL,        -- lost, rescued, found, no_longer_linked, parent_unreachable
        tries        INTEGER NOT NULL DEFAULT 0,  -- pages fetched again for it
        tried        INTEGER NOT NULL DEFAULT 0,  -- the last of them
        admitted     INTEGER REFERENCES url (id), -- its row, once it has one
        recovered_in INTEGER REFERENCES sequence (n) -- the later sequence that gave it one
    );
    CREATE UNIQUE INDEX lost_link ON lost (substr(fingerprint, 1, 8), sequence);
    CREATE INDEX lost_admitted ON lost (admitted) WHERE admitted IS NOT NULL;
    ALTER TABLE sequence ADD COLUMN audit_sample INTEGER; -- null: no audit
    ALTER TABLE sequence ADD COLUMN audit_urls INTEGER;   -- the last ticket given before the audit began
    ALTER TABLE sequence ADD COLUMN audit_lost INTEGER;   -- the last lost URL found before it began
    ALTER TABLE sequence ADD COLUMN swept TEXT;           -- report, rescue: the sweep that proves this state
    ALTER TABLE sequence ADD COLUMN swept_links INTEGER;  -- kept links it compared
",
    "
    -- A host that does not answer waits, and its URLs with it. All null where it is well.
    ALTER TABLE host ADD COLUMN failures INTEGER;     -- in a row
    ALTER TABLE host ADD COLUMN ailing_since INTEGER; -- the first of them
    ALTER TABLE host ADD COLUMN cause TEXT;           -- of the last: refused, timed_out, 503, ...
    ALTER TABLE host ADD COLUMN not_before INTEGER;   -- it is not asked before
    ALTER TABLE host ADD COLUMN wait TEXT;            -- who chose that: back_off, asked (Retry-After), paused (for too long)
    ALTER TABLE host ADD COLUMN known_good TEXT;      -- a URL of it that had an answer
    ALTER TABLE url ADD COLUMN failed_at INTEGER;     -- its last failed fetch, of those queued for a retry
    UPDATE sequence SET end = 'unreachable', swept = NULL, swept_links = NULL
        WHERE n = (SELECT max(n) FROM sequence)
          AND EXISTS (SELECT 1 FROM url WHERE state = 'abandoned' AND reason = 'robots_unreachable' AND admitted_in = n);
    UPDATE url SET state = 'queued', reason = NULL, attempts = 0, due = NULL
        WHERE state = 'abandoned' AND reason = 'robots_unreachable' AND admitted_in = (SELECT max(n) FROM sequence);
",
    "
    ALTER TABLE crawl ADD COLUMN key_rules TEXT NOT NULL DEFAULT 'whatwg'; -- what makes keys of URLs; never changed
",
    "
    -- Sequences that begin with what is known.
    ALTER TABLE sequence ADD COLUMN revisit TEXT;         -- known_first; null: its URLs are found from the starts
    ALTER TABLE sequence ADD COLUMN links_since INTEGER;  -- the first sequence whose kept links are those that this one would keep
    ALTER TABLE url ADD COLUMN copy INTEGER REFERENCES visit (id); -- the last visit that stored the page, where a later one did not
    ALTER TABLE visit ADD COLUMN same INTEGER REFERENCES visit (id); -- the earlier visit that has the links of this one
    ALTER TABLE visit ADD COLUMN etag BLOB;               -- as received, of a stored page
    ALTER TABLE visit ADD COLUMN last_modified BLOB;
    UPDATE url SET copy = (
            SELECT stored.id FROM history AS past CROSS JOIN visit AS stored ON stored.id = past.visit
            WHERE past.url = url.id AND stored.outcome = 'stored' ORDER BY past.sequence DESC LIMIT 1)
        WHERE readmission IS NOT NULL AND (SELECT outcome FROM visit WHERE visit.id = url.visit) IS NOT 'stored';
    UPDATE sequence SET links_since = n;
",
    "
    -- What a server says of a copy is checked.
    ALTER TABLE host ADD COLUMN wrong_since INTEGER; -- it said not modified of a page that was; null: it never did
    ALTER TABLE visit ADD COLUMN audited INTEGER;    -- 1: fetched whole, though the server had said not modified
    CREATE INDEX visit_audited ON visit (sequence) WHERE audited;
    -- What pages say, and what has changed.
    ALTER TABLE sequence ADD COLUMN text_rule INTEGER; -- how texts are made from pages; null: none are kept
    ALTER TABLE visit ADD COLUMN text INTEGER;         -- what the page says; an old one may be gone
    ALTER TABLE visit ADD COLUMN before INTEGER;       -- the visit with the copy before, where this one is another
    ALTER TABLE crawl ADD COLUMN looked_at INTEGER;    -- the last visit of which changes were told
    ALTER TABLE crawl ADD COLUMN pruned_to INTEGER;    -- up to this visit, those that found nothing new are gone
    ALTER TABLE sequence ADD COLUMN pruned INTEGER;    -- 1: so are its visits
    ALTER TABLE host ADD COLUMN robots_seen BLOB;      -- SHA-256 of the robots.txt of which changes were told
    CREATE TABLE text (
        id     INTEGER PRIMARY KEY,
        url    INTEGER NOT NULL REFERENCES url (id),
        rule   INTEGER NOT NULL,   -- how it was made
        digest BLOB NOT NULL,      -- SHA-256 of its lines
        body   BLOB NOT NULL       -- zstd
    );
    CREATE INDEX text_of_url ON text (url);
    CREATE TABLE standing (        -- what was last said of a page, where there is more to remember than its copy
        url           INTEGER PRIMARY KEY REFERENCES url (id),
        good          INTEGER REFERENCES visit (id), -- its last good copy
        earlier       INTEGER REFERENCES visit (id), -- the one before
        condition     TEXT NOT NULL,                 -- there, gone, moved, unreachable
        doubt         TEXT,                          -- missing, shrunk, mass: what waits for a second look
        doubted_since INTEGER,
        restless      INTEGER NOT NULL,              -- looks in a row in which bytes changed alone
        flaps         INTEGER NOT NULL,              -- times it went back to the text before
        calm          INTEGER NOT NULL,              -- looks in a row without a change
        volatile      INTEGER NOT NULL,
        orphaned      INTEGER NOT NULL,
        wall          BLOB,                          -- what stands in its place
        moved_from    INTEGER REFERENCES url (id),   -- it is likely to be that page
        moved_to      INTEGER REFERENCES url (id)    -- and this is where it is likely to be
    );
    CREATE TABLE change (          -- what was told
        id           INTEGER PRIMARY KEY,
        sequence     INTEGER NOT NULL REFERENCES sequence (n),
        at           INTEGER NOT NULL,
        url          INTEGER REFERENCES url (id),
        address      TEXT,         -- of what is no page: robots.txt
        change       TEXT NOT NULL,
        before       BLOB,         -- SHA-256 of the bodies
        after        BLOB,
        before_text  INTEGER,      -- an old one may be gone
        after_text   INTEGER,
        target       TEXT,         -- where it moved
        count        INTEGER,      -- pages with a site-wide edit
        edit         INTEGER       -- hash of that edit
    );
    -- Visits between sequences.
    ALTER TABLE sequence ADD COLUMN revisited INTEGER; -- 1: pages of it were visited once more
    ALTER TABLE crawl ADD COLUMN learnt INTEGER;       -- the last visit that the policy of revisits has seen; null: none
    CREATE TABLE revisit (         -- what that policy remembers of each page that has a copy
        url        INTEGER PRIMARY KEY REFERENCES url (id),
        class      INTEGER NOT NULL,   -- 0 to 255: pages with a common interval
        visited_at INTEGER NOT NULL,
        state      BLOB NOT NULL       -- 20 bytes: visits, changes, and the times before them
    );
    CREATE INDEX revisit_due ON revisit (class, visited_at);
    CREATE TABLE site_wide (       -- lines of site-wide edits that were told lately, by their hashes
        line     INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL
    );
",
    "
    -- What a policy of revisits goes by is kept, and not counted anew for each plan.
    ALTER TABLE visit ADD COLUMN steady INTEGER;   -- seconds for which its headers let expect that the page stays as it is
    ALTER TABLE revisit ADD COLUMN weight INTEGER NOT NULL DEFAULT 0; -- level of importance, by the pages that link to it
    ALTER TABLE crawl ADD COLUMN classed_by TEXT;  -- the policy, and the patterns of sections, that the classes are of
    ALTER TABLE crawl ADD COLUMN weighed INTEGER;  -- the sequence whose links the weights are of; null: none
    CREATE TABLE revisit_class (   -- how many pages of revisit there are of each class
        class INTEGER PRIMARY KEY,
        pages INTEGER NOT NULL
    );
    CREATE TABLE revisit_section ( -- the visited pages of the site (0), and of each folder by its hash
        section INTEGER PRIMARY KEY,
        pages   INTEGER NOT NULL,
        rates   INTEGER NOT NULL   -- the sum of their rates, in 2^-38 changes a second
    );
    INSERT INTO revisit_class SELECT class, count(*) FROM revisit GROUP BY class;
",
    "
    ALTER TABLE visit ADD COLUMN labels BLOB; -- what the links say of themselves, and those that left the scope; null: not kept
",
    "
    -- Pages of the last sequence that were fetched again for the lost URLs they had linked to.
    CREATE TABLE refetch (
        visit INTEGER PRIMARY KEY REFERENCES visit (id), -- the visit that has the links
        up_to INTEGER NOT NULL,                          -- the last row of lost that was looked for
        read  INTEGER NOT NULL                           -- 1: a page of the same kind, whose links were read; 0: anything else
    );
    ALTER TABLE lost DROP COLUMN tries;
    ALTER TABLE lost DROP COLUMN tried;
    -- Nothing that is missing was proved to be no longer linked.
    UPDATE sequence SET swept = 'report' WHERE swept = 'rescue' AND EXISTS (
        SELECT 1 FROM lost WHERE sequence = n AND lost.swept AND admitted IS NULL AND state <> 'no_longer_linked');
",
];

/// What a reader sees in a database that only the program that wrote it may migrate: for each schema version but the
/// first, what stands in for what it added.
const STAND_INS: &[&str] = &[
    "
    CREATE TEMP VIEW url AS SELECT *, NULL AS readmission, id AS ticket, NULL AS copy FROM main.url;
    CREATE TEMP VIEW visit AS SELECT *, iif(outcome = 'stored', 'new', NULL) AS change, NULL AS same, NULL AS etag,
        NULL AS last_modified, NULL AS audited, NULL AS text, NULL AS before, NULL AS steady, NULL AS labels FROM main.visit;
    CREATE TEMP TABLE history (url, sequence, hop, via, depth, state, reason, visit);
",
    "
    CREATE TEMP VIEW sequence AS SELECT *, NULL AS audit_sample, NULL AS audit_urls, NULL AS audit_lost, NULL AS swept,
        NULL AS swept_links, NULL AS revisit, n AS links_since, NULL AS text_rule, NULL AS pruned, NULL AS revisited FROM main.sequence;
    CREATE TEMP TABLE lost (id, sequence, fingerprint, url, found_by, found_at, via, swept, state, tries, tried, admitted,
        recovered_in);
",
    "
    CREATE TEMP VIEW host AS SELECT *, NULL AS failures, NULL AS ailing_since, NULL AS cause, NULL AS not_before,
        NULL AS wait, NULL AS known_good, NULL AS wrong_since, NULL AS robots_seen FROM main.host;
",
    "
    CREATE TEMP VIEW crawl AS SELECT *, 'whatwg' AS key_rules, NULL AS looked_at, NULL AS pruned_to, NULL AS learnt, NULL AS classed_by,
        NULL AS weighed FROM main.crawl;
",
    "
    -- What an older schema lacks too is added above.
    CREATE TEMP VIEW IF NOT EXISTS sequence AS SELECT *, NULL AS revisit, n AS links_since, NULL AS text_rule, NULL AS pruned, NULL AS revisited FROM main.sequence;
    CREATE TEMP VIEW IF NOT EXISTS url AS SELECT *, NULL AS copy FROM main.url;
    CREATE TEMP VIEW IF NOT EXISTS visit AS SELECT *, NULL AS same, NULL AS etag, NULL AS last_modified, NULL AS audited,
        NULL AS text, NULL AS before, NULL AS steady, NULL AS labels FROM main.visit;
",
    "
    CREATE TEMP VIEW IF NOT EXISTS crawl AS SELECT *, NULL AS looked_at, NULL AS pruned_to, NULL AS learnt, NULL AS classed_by,
        NULL AS weighed FROM main.crawl;
    CREATE TEMP VIEW IF NOT EXISTS sequence AS SELECT *, NULL AS text_rule, NULL AS pruned, NULL AS revisited FROM main.sequence;
    CREATE TEMP VIEW IF NOT EXISTS host AS SELECT *, NULL AS wrong_since, NULL AS robots_seen FROM main.host;
    CREATE TEMP VIEW IF NOT EXISTS visit AS SELECT *, NULL AS audited, NULL AS text, NULL AS before, NULL AS steady, NULL AS labels FROM main.visit;
    CREATE TEMP TABLE change (id, sequence, at, url, address, change, before, after, before_text, after_text, target, count,
        edit);
    CREATE TEMP TABLE text (id, url, rule, digest, body);
    CREATE TEMP TABLE standing (url, good, earlier, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned,
        wall, moved_from, moved_to);
    CREATE TEMP TABLE revisit (url, class, visited_at, state, weight);
",
    "
    CREATE TEMP VIEW IF NOT EXISTS visit AS SELECT *, NULL AS steady, NULL AS labels FROM main.visit;
    CREATE TEMP VIEW IF NOT EXISTS crawl AS SELECT *, NULL AS classed_by, NULL AS weighed FROM main.crawl;
    CREATE TEMP VIEW IF NOT EXISTS revisit AS SELECT *, 0 AS weight FROM main.revisit;
    CREATE TEMP VIEW revisit_class AS SELECT class, count(*) AS pages FROM revisit GROUP BY class;
    CREATE TEMP TABLE revisit_section (section, pages, rates);
",
    "
    CREATE TEMP VIEW IF NOT EXISTS visit AS SELECT *, NULL AS labels FROM main.visit;
",
    "",
];

/// The index by which a further sequence finds the rows of earlier ones. The first sequence does without.
pub(super) const INDEX_OF_KEYS: &str = "CREATE UNIQUE INDEX IF NOT EXISTS url_fingerprint ON url (fingerprint)";

/// The indices of sequences that begin with what is known, or were revisited: its order, the visits of a URL, and
/// the pages that link to what is lost.
pub(super) const INDICES_OF_KNOWN: &str = "
    CREATE INDEX IF NOT EXISTS url_known ON url (host, rank, ticket, admitted_in);
    CREATE INDEX IF NOT EXISTS visit_of_url ON visit (url, sequence);
    CREATE INDEX IF NOT EXISTS lost_via ON lost (via) WHERE admitted IS NULL;
";

/// The index by which the changes of a page are found. It is made before changes are looked for first.
pub(super) const INDEX_OF_CHANGES: &str = "CREATE INDEX IF NOT EXISTS change_of_url ON change (url)";

/// The newest schema this program knows.
fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// Settings of every connection.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cache_size", -4_000)
}

/// Settings of the one connection that writes. What it writes before the writer takes it over is synced at once.
pub(super) fn prepare_writing(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "page_size", 4096)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// The schema a database has; `None` when it is empty.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<Option<u32>, StoreError> {
    let read = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let database = || database_error(path);
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(database())?;
    let (id, found) = (read("application_id").map_err(database())?, read("user_version").map_err(database())?);
    if tables == 0 && id == 0 {
        return Ok(None);
    }
    if id != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.parent().unwrap_or(path).to_owned() });
    }
    if found > known() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: known() });
    }
    Ok(Some(found))
}

/// Lets this connection read a database of an older schema as if it were of the newest.
pub(super) fn stand_in(connection: &Connection, found: u32) -> rusqlite::Result<()> {
    STAND_INS.iter().skip(found.saturating_sub(1) as usize).try_for_each(|added| connection.execute_batch(added))
}

/// Brings the schema to the newest version, each migration whole.
pub(super) fn migrate(connection: &mut Connection, from: u32) -> rusqlite::Result<()> {
    migrate_to(connection, from, known())
}

/// The same up to a version.
pub(super) fn migrate_to(connection: &mut Connection, from: u32, version: u32) -> rusqlite::Result<()> {
    for (index, migration) in (0..version).zip(MIGRATIONS).skip(from as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", index + 1_u32)?;
        transaction.commit()?;
    }
    Ok(())
}
