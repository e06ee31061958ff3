//! The schema and its migrations. `PRAGMA user_version` is the number of migrations applied.

use std::path::Path;

use rusqlite::{Connection, config::DbConfig};

use super::error::database_error;
use crate::store::StoreError;

/// Marks a `SQLite` file as ours (`PRAGMA application_id`): "WEBL".
const APPLICATION_ID: u32 = 0x5745_424C;

/// Each migration takes the schema one version on; none is ever changed. The first makes it. Its tables check what the program
/// would not understand, but no word that may come to mean more. A list of three words or more (`IN`) would have `SQLite` make a table
/// of them for each row that is written.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE crawl (
        id               INTEGER PRIMARY KEY CHECK (id = 1),
        created_at       INTEGER NOT NULL, -- milliseconds since 1970, as every time here
        fingerprint_seed INTEGER NOT NULL, -- secret; never changed
        key_rules        TEXT NOT NULL,    -- what makes keys of URLs; never changed
        settings         TEXT NOT NULL,    -- JSON
        looked_at        INTEGER,          -- the last visit of which changes were reported
        pruned_to        INTEGER,          -- up to this visit, those that found nothing new are gone
        learnt           INTEGER,          -- the last visit that the policy of revisits has seen; null: none
        classed_by       TEXT,             -- the policy, and the patterns of sections, that the classes are of
        weighed          INTEGER REFERENCES sequence (n) -- whose links the weights are of; null: none
    ) STRICT;
    CREATE TABLE area (                    -- what is in the scope by itself
        url    TEXT PRIMARY KEY,
        source TEXT NOT NULL               -- start, guessed, redirect, fallback
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sequence (
        n            INTEGER PRIMARY KEY CHECK (n >= 0),
        began_at     INTEGER NOT NULL,
        hash_seed    INTEGER NOT NULL,     -- secret; the URL cache's
        revisit      TEXT,                 -- known_first; null: its URLs are found from the starts
        links_since  INTEGER NOT NULL DEFAULT 0, -- the first sequence whose kept links are those that this one would keep
        text_rule    INTEGER,              -- how texts are made from pages; null: none are kept
        end          TEXT,                 -- drained, budget, unreachable, loss, signal, failed; null while it runs or after a kill
        ended_at     INTEGER,
        runs         INTEGER NOT NULL DEFAULT 0,
        seconds      REAL NOT NULL DEFAULT 0,
        cpu_seconds  REAL NOT NULL DEFAULT 0,
        peak_memory  INTEGER,
        counters     TEXT NOT NULL,        -- JSON
        exact        INTEGER NOT NULL DEFAULT 1 CHECK (exact IN (0, 1)), -- 0 once a URL cache that can err was used
        cache        TEXT,                 -- JSON
        audit_sample INTEGER,              -- null: no audit
        audit_urls   INTEGER,              -- the last ticket given before the audit began
        audit_lost   INTEGER,              -- the last lost URL found before it began
        swept        TEXT,                 -- report, rescue: the sweep that proves this state
        swept_links  INTEGER,              -- kept links it compared
        revisited    INTEGER CHECK (revisited = 1), -- pages of it were visited once more after its end
        pruned       INTEGER CHECK (pruned = 1)     -- its visits that found nothing new are gone
    ) STRICT;
    CREATE TABLE host (
        id                  INTEGER PRIMARY KEY,
        origin              TEXT NOT NULL,
        robots_status       INTEGER,
        robots_body         BLOB,
        robots_fetched_at   INTEGER,       -- null: never asked
        robots_first_failed INTEGER,
        robots_seen         BLOB,          -- SHA-256 of the robots.txt of which changes were reported
        crawl_delay         INTEGER,       -- milliseconds
        address             TEXT,          -- that answered when its robots.txt was read
        wrong_since         INTEGER,       -- it said not modified of a page that was; null: it never did
        sitemaps_in         INTEGER,       -- the last sequence in which its sitemaps were looked for
        sitemap_guessed     INTEGER CHECK (sitemap_guessed = 1), -- /sitemap.xml is one, which its robots.txt does not name
        -- One that does not answer waits, and its URLs with it. All null where it is well.
        failures            INTEGER,       -- in a row
        ailing_since        INTEGER,       -- the first of them
        cause               TEXT,          -- of the last: refused, timed_out, 503, ...
        not_before          INTEGER,       -- it is not asked before
        wait                TEXT,          -- who chose that: back_off, asked (Retry-After), paused (for too long)
        known_good          TEXT           -- a URL of it that had an answer
    ) STRICT;
    CREATE TABLE url (
        id          INTEGER PRIMARY KEY,
        host        INTEGER NOT NULL REFERENCES host (id),
        url         TEXT NOT NULL,
        key         TEXT,                  -- null: the same as url
        fingerprint BLOB NOT NULL,
        hop         TEXT NOT NULL,         -- start, link, redirect, sitemap, feed
        via         INTEGER REFERENCES url (id),
        depth       INTEGER NOT NULL,
        redirects   INTEGER NOT NULL DEFAULT 0,
        rank        INTEGER NOT NULL,      -- place in the host's order, least first
        admitted_in INTEGER NOT NULL REFERENCES sequence (n),
        state       TEXT NOT NULL CHECK (state = 'queued' OR state = 'finished' OR state = 'abandoned'),
        attempts    INTEGER NOT NULL DEFAULT 0,
        due         INTEGER,               -- queued for a retry, not before
        failed_at   INTEGER,               -- its last failed fetch, of those queued for a retry
        reason      TEXT,                  -- why abandoned, or how the last attempt failed
        visit       INTEGER REFERENCES visit (id),
        copy        INTEGER REFERENCES visit (id), -- the last visit that stored the page, where a later one did not
        readmission INTEGER,               -- number of its latest admission; null: it was admitted once
        ticket      INTEGER AS (coalesce(readmission, id)) VIRTUAL
    ) STRICT;
    CREATE INDEX url_queue ON url (admitted_in, host, rank, ticket) WHERE state = 'queued' AND due IS NULL;
    CREATE INDEX url_retry ON url (admitted_in, host, due, ticket) WHERE state = 'queued' AND due IS NOT NULL;
    CREATE UNIQUE INDEX url_readmission ON url (readmission) WHERE readmission IS NOT NULL;
    CREATE TABLE visit (
        id            INTEGER PRIMARY KEY,
        url           INTEGER NOT NULL REFERENCES url (id),
        sequence      INTEGER NOT NULL REFERENCES sequence (n),
        fetched_at    INTEGER NOT NULL,
        outcome       TEXT NOT NULL,       -- stored, redirected, broken, failed
        status        INTEGER,
        reason        TEXT,
        content_type  TEXT,
        html          INTEGER NOT NULL CHECK (html IN (0, 1)),
        bytes         INTEGER NOT NULL,    -- decoded
        wire_bytes    INTEGER NOT NULL,    -- as received
        digest        BLOB,                -- SHA-256 of the decoded body
        title         TEXT,
        description   TEXT,
        canonical     TEXT,                -- the page that it names as the canonical one, where that is another
        needs_js      INTEGER NOT NULL DEFAULT 0 CHECK (needs_js IN (0, 1)), -- 1: it shows next to nothing until its scripts have run
        redirect      TEXT,
        truncated     TEXT,                -- size, time, slow, expansion, disconnect, links
        change        TEXT,                -- new, changed, unchanged, gone; null where none of them is known
        same          INTEGER REFERENCES visit (id), -- the earlier visit that has the links of this one
        before        INTEGER REFERENCES visit (id), -- the visit with the copy before, where this one is another
        etag          BLOB,                -- as received, of a stored page
        last_modified BLOB,
        audited       INTEGER NOT NULL DEFAULT 0 CHECK (audited IN (0, 1)), -- 1: fetched whole, though the server had said not modified
        text          INTEGER,             -- what the page says; an old one may be gone
        steady        INTEGER,             -- seconds for which its headers let expect that the page stays as it is
        links_hash    INTEGER,             -- 31 bits, of the links; null where another visit has them
        links         BLOB NOT NULL,       -- 8 bytes each: leading half of the targets' fingerprints
        labels        BLOB,                -- what the links say of themselves, and those that left the scope; null: not kept
        CHECK (outcome = 'stored' OR outcome = 'redirected' OR outcome = 'broken' OR outcome = 'failed'),
        CHECK (change = 'new' OR change = 'changed' OR change = 'unchanged' OR change = 'gone')
    ) STRICT;
    CREATE INDEX visit_audited ON visit (sequence) WHERE audited;
    CREATE TABLE past (                    -- how a URL stood at the end of an earlier sequence, where no visit tells it
        url      INTEGER NOT NULL REFERENCES url (id),
        sequence INTEGER NOT NULL REFERENCES sequence (n),
        state    TEXT NOT NULL CHECK (state IN ('queued', 'abandoned')),
        reason   TEXT,
        PRIMARY KEY (url, sequence)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE lost (                    -- URLs that the URL cache refused by mistake
        id           INTEGER PRIMARY KEY,
        sequence     INTEGER NOT NULL REFERENCES sequence (n),
        fingerprint  BLOB NOT NULL, -- the leading half where only a link is known
        url          TEXT,                 -- null where only a link is known
        found_by     TEXT NOT NULL CHECK (found_by IN ('audit', 'sweep')),
        found_at     INTEGER NOT NULL,
        via          INTEGER REFERENCES url (id), -- a page that links to it
        swept        INTEGER NOT NULL DEFAULT 0 CHECK (swept IN (0, 1)), -- 1: the sweep found it without a row
        state        TEXT NOT NULL,        -- lost, rescued, found, no_longer_linked, parent_unreachable
        admitted     INTEGER REFERENCES url (id), -- its row, once it has one
        recovered_in INTEGER REFERENCES sequence (n) -- the later sequence that gave it one
    ) STRICT;
    CREATE UNIQUE INDEX lost_link ON lost (substr(fingerprint, 1, 8), sequence);
    CREATE INDEX lost_admitted ON lost (admitted) WHERE admitted IS NOT NULL;
    CREATE INDEX lost_via ON lost (via) WHERE admitted IS NULL;
    CREATE TABLE refetch (         -- pages of the last sequence that were fetched again for the lost URLs they had linked to
        visit INTEGER PRIMARY KEY REFERENCES visit (id), -- the visit that has the links
        up_to INTEGER NOT NULL,    -- the last row of lost that was looked for
        read  INTEGER NOT NULL CHECK (read IN (0, 1)) -- 1: a page of the same kind, whose links were read; 0: anything else
    ) STRICT;
    CREATE TABLE text (            -- what pages say
        id     INTEGER PRIMARY KEY,
        url    INTEGER NOT NULL REFERENCES url (id),
        rule   INTEGER NOT NULL,   -- how it was made
        digest BLOB NOT NULL, -- SHA-256 of its lines
        body   BLOB NOT NULL       -- zstd
    ) STRICT;
    CREATE INDEX text_of_url ON text (url);
    CREATE TABLE page_state (      -- what was last reported of a page, where there is more to remember than its copy
        url           INTEGER PRIMARY KEY REFERENCES url (id),
        good          INTEGER REFERENCES visit (id), -- its last good copy
        earlier       INTEGER REFERENCES visit (id), -- the one before
        condition     TEXT NOT NULL,                 -- there, gone, moved, unreachable
        doubt         TEXT,                          -- missing, shrunk, mass: what waits for a second look
        doubted_since INTEGER,
        restless      INTEGER NOT NULL,              -- looks in a row in which bytes changed alone
        flaps         INTEGER NOT NULL,              -- times it went back to the text before
        calm          INTEGER NOT NULL,              -- looks in a row without a change
        volatile      INTEGER NOT NULL CHECK (volatile IN (0, 1)),
        orphaned      INTEGER NOT NULL CHECK (orphaned IN (0, 1)),
        wall          BLOB,                          -- what is in its place
        moved_from    INTEGER REFERENCES url (id),   -- it is likely to be that page
        moved_to      INTEGER REFERENCES url (id)    -- and this is where it is likely to be
    ) STRICT;
    CREATE TABLE change (          -- what was reported
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
    ) STRICT;
    CREATE TABLE site_wide (       -- lines of site-wide edits that were reported lately, by their hashes
        line     INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL REFERENCES sequence (n)
    ) STRICT;
    CREATE TABLE revisit (         -- what the policy of revisits remembers of each page that has a copy
        url        INTEGER PRIMARY KEY REFERENCES url (id),
        class      INTEGER NOT NULL,   -- 0 to 255: pages with a common interval
        visited_at INTEGER NOT NULL,
        state      BLOB NOT NULL, -- visits, changes, and the times before them
        weight     INTEGER NOT NULL DEFAULT 0 -- level of importance, by the pages that link to it
    ) STRICT;
    CREATE INDEX revisit_due ON revisit (class, visited_at);
    CREATE TABLE revisit_class (   -- how many pages of revisit there are of each class
        class INTEGER PRIMARY KEY,
        pages INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE revisit_section ( -- the visited pages of the site (0), and of each folder by its hash
        section INTEGER PRIMARY KEY,
        pages   INTEGER NOT NULL,
        rates   INTEGER NOT NULL   -- the sum of their rates, in 2^-38 changes a second
    ) STRICT;
","
    CREATE TABLE link_check (      -- URLs that pages link to or show, and that are none of the crawl
        id         INTEGER PRIMARY KEY,
        url        TEXT NOT NULL UNIQUE,
        redirects  INTEGER NOT NULL,   -- that led to it
        wanted_in  INTEGER NOT NULL REFERENCES sequence (n), -- the last sequence in which it is to be checked
        checked_in INTEGER REFERENCES sequence (n), -- the last in which it was; null: it never was
        checked_at INTEGER,            -- null: it was not asked for
        outcome    TEXT,               -- checked, redirected, broken, failed, abandoned
        status     INTEGER,
        reason     TEXT,
        target     TEXT                -- where it redirects to
    ) STRICT;
","
    ALTER TABLE link_check ADD COLUMN reads INTEGER NOT NULL DEFAULT 0 CHECK (reads IN (0, 1)); -- 1: what is inside is asked for
    ALTER TABLE link_check ADD COLUMN names BLOB; -- what its elements are named; null: it was not read
    CREATE TABLE sheet_part (      -- what style sheets load
        sheet    INTEGER NOT NULL REFERENCES link_check (id),
        url      TEXT NOT NULL,
        is_sheet INTEGER NOT NULL CHECK (is_sheet IN (0, 1)), -- 1: it is a style sheet too
        PRIMARY KEY (sheet, url)
    ) STRICT, WITHOUT ROWID;
","
    CREATE TABLE page_field (      -- what was taken out of pages
        visit  INTEGER PRIMARY KEY REFERENCES visit (id),
        fields TEXT NOT NULL           -- JSON
    ) STRICT;
    CREATE TABLE items_file (      -- files into which that is written as well
        name  TEXT PRIMARY KEY,        -- as it was given
        path  TEXT NOT NULL,
        bytes INTEGER NOT NULL,        -- what was written, as far as it was committed
        line  INTEGER NOT NULL,        -- length of the last line
        hash  INTEGER NOT NULL,        -- of the last line
        visit INTEGER NOT NULL         -- the last visit that has a line; 0: none
    ) STRICT, WITHOUT ROWID;
","
    ALTER TABLE visit ADD COLUMN language TEXT; -- as written in its html element
    ALTER TABLE visit ADD COLUMN h1 TEXT;       -- its first heading
    ALTER TABLE visit ADD COLUMN robots TEXT;   -- what it asks of robots: noindex, nofollow, or both
    ALTER TABLE visit ADD COLUMN words INTEGER; -- that it shows; null: it is no HTML, or was read before this column was there
    ALTER TABLE link_check ADD COLUMN guessed INTEGER NOT NULL DEFAULT 0 CHECK (guessed IN (0, 1)); -- 1: nothing leads to it, but to the same with http
","
    ALTER TABLE crawl ADD COLUMN forgotten_to INTEGER; -- up to this visit, those that nothing needs are gone
","
    ALTER TABLE crawl ADD COLUMN archive INTEGER CHECK (archive IN (1, 2)); -- 1: answers are archived; 2: each whole; null: they are not
    ALTER TABLE crawl ADD COLUMN archive_types TEXT; -- JSON: patterns (GLOB) of the content types of pages that are; null: all
    CREATE TABLE archive_file (    -- WARC files
        id    INTEGER PRIMARY KEY,
        name  TEXT NOT NULL UNIQUE,
        bytes INTEGER NOT NULL         -- up to which it is good
    ) STRICT;
    CREATE TABLE archive_record (  -- where the answers are in them
        visit        INTEGER PRIMARY KEY, -- the visit, which may be forgotten
        url          INTEGER NOT NULL REFERENCES url (id),
        sequence     INTEGER NOT NULL REFERENCES sequence (n),
        at           INTEGER NOT NULL,
        status       INTEGER NOT NULL,
        content_type TEXT,
        file         INTEGER NOT NULL REFERENCES archive_file (id),
        start        INTEGER NOT NULL,
        length       INTEGER NOT NULL, -- of the record of the answer
        whole        INTEGER NOT NULL, -- with those of its request and of its metadata
        body         INTEGER REFERENCES archive_record (visit), -- the visit whose record has the body; null: this one
        payload      BLOB NOT NULL, -- SHA-1 of the body as it was sent
        coding       TEXT              -- its content codings
    ) STRICT;
    CREATE INDEX archive_of_url ON archive_record (url, visit);
    CREATE INDEX archive_of_body ON archive_record (body) WHERE body IS NOT NULL;
","
    ALTER TABLE crawl ADD COLUMN indexed_to INTEGER; -- up to this visit, pages are in the search index; null: there is none
    CREATE TABLE indexed_page (    -- pages in the search index
        url        INTEGER PRIMARY KEY REFERENCES url (id),
        words      INTEGER NOT NULL,   -- hash of what is indexed of it
        links      INTEGER NOT NULL,   -- pages that link to it
        importance REAL NOT NULL       -- by the links between the pages; 1 on average
    ) STRICT;
","
    CREATE TABLE removed_url (     -- URLs that were removed because somebody asked for it, and are not asked for again
        fingerprint BLOB PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE indexed_page ADD COLUMN similarity INTEGER; -- hash of its text (SimHash); null: it is too short
    ALTER TABLE indexed_page ADD COLUMN similar INTEGER REFERENCES url (id); -- the first page whose text is nearly the same; null: none before it
","
    ALTER TABLE text ADD COLUMN places BLOB; -- the elements that its lines are in: path and number of lines, as LEB128; null: not known
    ALTER TABLE page_state ADD COLUMN masks TEXT; -- JSON: what moves on it by itself, and is none of the masks of its section
    ALTER TABLE page_state ADD COLUMN unsure INTEGER REFERENCES visit (id); -- the visit whose change waits for a second look
    CREATE TABLE mask (            -- what moves by itself on the pages of a section, or of a host
        id      INTEGER PRIMARY KEY,
        section INTEGER NOT NULL,  -- hash of its address; of a host the complement of its hash
        address TEXT NOT NULL,     -- of the section, or of the host with /*
        mask    TEXT NOT NULL      -- JSON
    ) STRICT;
    CREATE TABLE second_look (     -- what pages said when they were fetched once more shortly after a visit of this sequence
        url    INTEGER PRIMARY KEY REFERENCES url (id),
        visit  INTEGER NOT NULL REFERENCES visit (id),
        digest BLOB,               -- SHA-256 of the body; null: there was no page then
        rule   INTEGER,            -- how the text was made; null: there is none
        body   BLOB,               -- zstd; null: it is that of the visit
        places BLOB,
        links  TEXT NOT NULL DEFAULT '[]' -- JSON: the texts of links that led elsewhere
    ) STRICT;
    ALTER TABLE change ADD COLUMN links TEXT NOT NULL DEFAULT '[]'; -- JSON: texts of links that lead elsewhere, with where they led and lead
    ALTER TABLE change ADD COLUMN alike INTEGER NOT NULL DEFAULT 0;    -- the same for changes that are nearly the same; 0: there are none
    ALTER TABLE change ADD COLUMN in_links INTEGER NOT NULL DEFAULT 0; -- pages that link to it, where they were counted
    ALTER TABLE sequence ADD COLUMN noise TEXT; -- JSON: lines that differed, that were hidden, and that second looks withdrew
"];

/// The index by which a further sequence finds the rows of earlier ones, and readers a page. The first
/// sequence does without until it has ended.
pub(super) const INDEX_OF_KEYS: &str = "CREATE UNIQUE INDEX IF NOT EXISTS url_fingerprint ON url (fingerprint)";

/// The index by which the visits of a URL are found. The first sequence does without, until pages of it are visited once more.
pub(super) const INDEX_OF_VISITS: &str = "CREATE INDEX IF NOT EXISTS visit_of_url ON visit (url, sequence)";

/// The index of sequences that begin with what is known, or were revisited: its order.
pub(super) const INDEX_OF_KNOWN: &str = "CREATE INDEX IF NOT EXISTS url_known ON url (host, rank, ticket, admitted_in)";

/// The indices by which the changes of a page are found, and the pages that are in doubt. They are made before changes are looked
/// for first.
pub(super) const INDICES_OF_CHANGES: &str = "
    CREATE INDEX IF NOT EXISTS change_of_url ON change (url);
    CREATE INDEX IF NOT EXISTS page_state_doubt ON page_state (doubt) WHERE doubt IS NOT NULL";

/// Whether it is kept what pages say of themselves beside their title: in a database that no program has written to since, it is not.
pub(super) fn has_said_columns(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('visit') WHERE name = 'words')";
    connection.query_row(any, [], |row| row.get(0))
}

/// Whether it may be kept how far history was forgotten: the same.
pub(super) fn has_forgotten_column(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('crawl') WHERE name = 'forgotten_to')";
    connection.query_row(any, [], |row| row.get(0))
}

/// Whether there is a table of URLs that were removed: the same.
pub(super) fn has_removed_table(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'removed_url')";
    connection.query_row(any, [], |row| row.get(0))
}

/// Whether it may be kept what moves by itself: the same.
pub(super) fn has_mask_table(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'mask')";
    connection.query_row(any, [], |row| row.get(0))
}

/// Whether URLs were removed.
pub(super) fn has_removed(connection: &Connection) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM removed_url)";
    Ok(has_removed_table(connection)? && connection.query_row(any, [], |row| row.get(0))?)
}

/// The newest schema this program knows.
fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("few migrations")
}

/// Settings of every connection.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // No statement is prepared anew because another value is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
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
    // Each schema since the first release has this column.
    let is_released = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('visit') WHERE name = 'needs_js')";
    if !connection.query_row(is_released, [], |row| row.get::<_, bool>(0)).map_err(database())? {
        return Err(StoreError::Older { path: path.parent().unwrap_or(path).to_owned() });
    }
    if found > known() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: known() });
    }
    Ok(Some(found))
}

/// Brings the schema to the newest version, each migration whole.
pub(super) fn migrate(connection: &mut Connection, from: u32) -> rusqlite::Result<()> {
    apply(connection, from, MIGRATIONS)
}

fn apply(connection: &mut Connection, from: u32, migrations: &[&str]) -> rusqlite::Result<()> {
    for (version, migration) in (1_u32..).zip(migrations).skip(from as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_schema_is_brought_to_the_newest_version_each_step_whole() {
        let path = Path::new("webloom.sqlite");
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(version(&connection, path).unwrap(), None);
        migrate(&mut connection, 0).unwrap();
        connection.execute("INSERT INTO host (id, origin) VALUES (0, 'http://h')", []).unwrap();
        let first = version(&connection, path).unwrap().unwrap();
        assert_eq!(first, known());
        let more = ["ALTER TABLE host ADD COLUMN name TEXT", "UPDATE host SET name = 'h'; UPDATE host SET nothing = 1"];
        let migrations = [MIGRATIONS, &more].concat();
        apply(&mut connection, first, &migrations).unwrap_err();
        // What a newer program has made is not read by this one.
        assert!(matches!(version(&connection, path), Err(StoreError::Newer { found, .. }) if found == first + 1));
        let name = || connection.query_row("SELECT name FROM host", [], |row| row.get::<_, Option<String>>(0));
        assert_eq!(name().unwrap(), None, "a step that fails is taken back");
    }

    #[test]
    fn what_was_written_before_the_first_release_is_refused() {
        for written in ["CREATE TABLE crawl (id)", "CREATE TABLE crawl (id); CREATE TABLE history (url)"] {
            for found in [1, 9] {
                let connection = Connection::open_in_memory().unwrap();
                connection.execute_batch(written).unwrap();
                connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
                connection.pragma_update(None, "user_version", found).unwrap();
                let refused = version(&connection, Path::new("d/webloom.sqlite")).unwrap_err();
                assert!(matches!(&refused, StoreError::Older { path } if path == Path::new("d")), "{refused}");
            }
        }
    }
}
