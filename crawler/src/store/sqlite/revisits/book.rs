//! [`Book`]: the rows of `revisit`, and the sums that are kept of them.
//!
//! Invariants: once a book is closed, `revisit_class` counts the rows of each class, and `revisit_section` the visited ones of each
//! section. The cost of that is in proportion to the rows that were changed.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::{
    revisit::{Census, Class, GivenIntervals, Importance, PageState, RevisitPolicy, Section, SectionPath},
    time::Moment,
};

/// The classes from here on are of pages with an interval of their own, in the order of the rules.
pub(super) const GIVEN: u32 = 256;

/// Sections that are not there, and are not looked for again.
const MOST_MISSING: usize = 1 << 16;

/// What is remembered of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remembered {
    pub(super) url: i64,
    /// The policy's class, or one from [`GIVEN`] on.
    pub(super) class: u32,
    pub(super) page: PageState,
    pub(super) importance: Importance,
}

impl Remembered {
    /// Reads URL, class, state and weight, in this order.
    pub(super) fn of(row: &rusqlite::Row<'_>) -> Result<Self> {
        Ok(Self {
            url: row.get(0)?,
            class: row.get(1)?,
            page: state(row, 1)?,
            importance: Importance::of_level(row.get(3)?),
        })
    }

    /// Whether the policy decides how often it is visited.
    pub(super) fn is_divided(&self) -> bool {
        self.class < GIVEN
    }
}

/// What a policy remembers of a page: class and state, in two columns from this one on.
pub(in crate::store::sqlite) fn state(row: &rusqlite::Row<'_>, column: usize) -> Result<PageState> {
    let class = policy_class(row.get(column)?).unwrap_or_default();
    Ok(PageState::from_bytes(row.get(column + 1)?, class))
}

/// What is remembered of all pages, while it changes.
pub(super) struct Book<'a> {
    pub(super) connection: &'a Connection,
    pub(super) policy: &'a mut dyn RevisitPolicy,
    pub(super) given: &'a GivenIntervals,
    /// How many rows more there are of each class.
    classes: BTreeMap<u32, i64>,
    /// Sections that were looked for, and are not there; at most [`MOST_MISSING`].
    missing: HashSet<u64>,
}

impl<'a> Book<'a> {
    /// Opens it.
    pub(super) fn open(
        connection: &'a Connection,
        policy: &'a mut dyn RevisitPolicy,
        given: &'a GivenIntervals,
    ) -> Result<Self> {
        if let Some(sections) = policy.sections() {
            let count = "SELECT count(*) FROM revisit_section WHERE section <> 0";
            sections.set_folders(connection.query_row(count, [], |row| row.get(0))?);
        }
        Ok(Self { connection, policy, given, classes: BTreeMap::new(), missing: HashSet::new() })
    }

    /// What is remembered of a page.
    pub(super) fn page(&self, url: i64) -> Result<Option<Remembered>> {
        let mut select =
            self.connection.prepare_cached("SELECT url, class, state, weight FROM revisit WHERE url = ?")?;
        select.query_row([url], Remembered::of).optional()
    }

    /// Has the policy know the sections of a page, as far as they were written down.
    pub(super) fn know(&mut self, path: &SectionPath) -> Result<()> {
        let Some(sections) = self.policy.sections() else { return Ok(()) };
        for number in path.numbers() {
            if sections.knows(number) || self.missing.contains(&number) {
                continue;
            }
            let mut select =
                self.connection.prepare_cached("SELECT pages, rates FROM revisit_section WHERE section = ?")?;
            let section = |row: &rusqlite::Row<'_>| Ok(Section { pages: row.get(0)?, rates: row.get(1)? });
            if let Some(section) = select.query_row([number.cast_signed()], section).optional()? {
                sections.put(number, section);
            } else if self.missing.len() < MOST_MISSING {
                self.missing.insert(number);
            }
        }
        Ok(())
    }

    /// Writes down what is remembered of a page that was visited at this moment, and was of another class before, or of none.
    pub(super) fn write(&mut self, now: &Remembered, visited: Moment, before: Option<u32>) -> Result<()> {
        let mut write = self.connection.prepare_cached(
            "INSERT INTO revisit (url, class, visited_at, state, weight) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET class = ?2, visited_at = ?3, state = ?4, weight = ?5",
        )?;
        let (state, weight) = (now.page.to_bytes(), now.importance.level());
        write.execute(params![now.url, now.class, visited.millis(), state, weight])?;
        self.count(before, Some(now.class));
        Ok(())
    }

    /// Writes down another class of a page, and its importance.
    pub(super) fn reclass(&mut self, now: &Remembered, before: u32) -> Result<()> {
        let mut update = self.connection.prepare_cached("UPDATE revisit SET class = ?, weight = ? WHERE url = ?")?;
        update.execute(params![now.class, now.importance.level(), now.url])?;
        self.count(Some(before), Some(now.class));
        Ok(())
    }

    /// A page leaves the plan.
    pub(super) fn remove(&mut self, page: &Remembered, path: &SectionPath) -> Result<()> {
        if page.is_divided() {
            self.know(path)?;
            self.policy.forget(&page.page, path);
        }
        self.connection.prepare_cached("DELETE FROM revisit WHERE url = ?")?.execute([page.url])?;
        self.count(Some(page.class), None);
        Ok(())
    }

    /// The class of a page with an interval of its own.
    pub(super) fn given_class(&self, url: &str) -> Option<u32> {
        self.given.rule_of(url).map(|rule| GIVEN + u32::try_from(rule).unwrap_or(u32::MAX - GIVEN))
    }

    fn count(&mut self, before: Option<u32>, now: Option<u32>) {
        if before != now {
            for (class, pages) in now.map(|class| (class, 1)).into_iter().chain(before.map(|class| (class, -1))) {
                *self.classes.entry(class).or_default() += pages;
            }
        }
    }

    /// Writes the sums down.
    pub(super) fn close(&mut self) -> Result<()> {
        let mut add = self.connection.prepare_cached(
            "INSERT INTO revisit_class (class, pages) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET pages = pages + ?2",
        )?;
        for (class, pages) in std::mem::take(&mut self.classes) {
            add.execute(params![class, pages])?;
        }
        let mut write = self.connection.prepare_cached(
            "INSERT INTO revisit_section (section, pages, rates) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET pages = ?2, rates = ?3",
        )?;
        for (number, section) in self.policy.sections().map(crate::revisit::Sections::take_changed).unwrap_or_default()
        {
            write.execute(params![number.cast_signed(), section.pages, section.rates])?;
        }
        Ok(())
    }
}

/// How many pages there are of each class, and of each rule with an interval of its own.
pub(super) fn census(connection: &Connection, rules: usize) -> Result<(Census, Vec<u64>)> {
    let mut select = connection.prepare_cached("SELECT class, pages FROM revisit_class")?;
    let mut rows = select.query([])?;
    let (mut census, mut given) = (Census::default(), vec![0; rules]);
    while let Some(row) = rows.next()? {
        let (class, pages): (u32, u64) = (row.get(0)?, row.get(1)?);
        match policy_class(class) {
            Some(class) => census.add_pages(class, pages),
            None => given.iter_mut().skip((class - GIVEN) as usize).take(1).for_each(|rule| *rule = pages),
        }
    }
    Ok((census, given))
}

/// The policy's class of this number.
fn policy_class(class: u32) -> Option<Class> {
    u8::try_from(class).ok().map(Class)
}
