//! [`Purpose`]: what a URL is fetched for. One table says what each purpose means to the code that deals with it. So a new purpose takes
//! one row of it, and a line in what takes its answers.
//!
//! Does not know: when a URL is fetched, or what becomes of its answer.

/// What a URL is fetched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// A URL of the URL table, for its first answer.
    Discover,
    /// The same after a fetch that failed.
    Retry,
    /// A URL that was visited before, in an earlier sequence or in this one, once more.
    Revisit,
    /// The same, whole: the server said that it was not modified, and that is checked.
    Audit,
    /// A URL that has its answer in a sequence that has come to its end, once more.
    Due,
    /// The same, whole: the server said that it was not modified, and that is checked.
    DueAudit,
    /// A URL that has its answer, for links that were lost.
    Rescue,
    /// The addresses of a host's name.
    LookUp,
    /// robots.txt of a host, at that host or where its redirects lead.
    Robots,
    /// A URL that had an answer, to find out whether its host answers again.
    Check,
    /// `/sitemap.xml` of a host whose robots.txt names no sitemap.
    Guess,
    /// A URL that pages link to or show and that is none of the crawl, to find out whether it is there.
    LinkCheck,
    /// The same, to find out as well what is inside: the names on a page, or what a style sheet loads.
    ContentCheck,
    /// A page that was visited a moment ago, to see what of it moves by itself.
    Confirm,
}

/// What a purpose means.
#[derive(Debug)]
pub struct Row {
    /// Which it is.
    pub purpose: Purpose,
    /// Where it waits to be leased.
    pub queue: Queue,
    /// Whether it is fetched for what is on it.
    pub of_page: bool,
    /// What is read of its answer.
    pub body: Body,
    /// What takes its answer in.
    pub taker: ReportTaker,
}

/// Where a URL waits to be leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// In the URL table: the counts are of these alone.
    Table,
    /// Beside the queued rows of its host, and before them.
    Extra,
    /// Before all else of the hosts that it is of.
    Robots,
    /// With what is known of a host's health.
    Check,
    /// With what is known of a host's addresses.
    LookUp,
}

/// What is read of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A page, with its links.
    Page,
    /// As much as is read of a robots.txt.
    Robots,
    /// Whether one comes.
    FirstByte,
    /// Status and headers.
    Head,
    /// A page for the names of its elements, a style sheet for what it loads.
    Content,
    /// No request is sent: a resolver is asked.
    Addresses,
}

/// What takes an answer in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportTaker {
    /// What becomes of a URL of the URL table.
    Pages,
    /// What finds lost URLs again.
    Sweep,
    /// What knows the rules of hosts.
    Robots,
    /// What knows whether hosts answer.
    Health,
    /// What knows which sitemaps hosts have.
    Sources,
    /// What knows which hosts are on one machine.
    LookUps,
    /// What finds links that lead nowhere.
    LinkChecks,
    /// What finds out what moves by itself.
    SecondLooks,
}

const fn page(purpose: Purpose) -> Row {
    Row { purpose, queue: Queue::Table, of_page: true, body: Body::Page, taker: ReportTaker::Pages }
}

const LINK_CHECK: Row = Row {
    purpose: Purpose::LinkCheck,
    queue: Queue::Extra,
    of_page: false,
    body: Body::Head,
    taker: ReportTaker::LinkChecks,
};

/// By the number of the purpose.
const TABLE: [Row; 14] = [
    page(Purpose::Discover),
    page(Purpose::Retry),
    page(Purpose::Revisit),
    page(Purpose::Audit),
    Row { queue: Queue::Extra, ..page(Purpose::Due) },
    Row { queue: Queue::Extra, ..page(Purpose::DueAudit) },
    Row { queue: Queue::Extra, taker: ReportTaker::Sweep, ..page(Purpose::Rescue) },
    Row {
        purpose: Purpose::LookUp,
        queue: Queue::LookUp,
        of_page: false,
        body: Body::Addresses,
        taker: ReportTaker::LookUps,
    },
    Row {
        purpose: Purpose::Robots,
        queue: Queue::Robots,
        of_page: false,
        body: Body::Robots,
        taker: ReportTaker::Robots,
    },
    Row {
        purpose: Purpose::Check,
        queue: Queue::Check,
        of_page: false,
        body: Body::FirstByte,
        taker: ReportTaker::Health,
    },
    Row { purpose: Purpose::Guess, queue: Queue::Extra, of_page: false, body: Body::Page, taker: ReportTaker::Sources },
    LINK_CHECK,
    Row { purpose: Purpose::ContentCheck, body: Body::Content, ..LINK_CHECK },
    Row {
        purpose: Purpose::Confirm,
        queue: Queue::Extra,
        of_page: false,
        body: Body::Page,
        taker: ReportTaker::SecondLooks,
    },
];

impl Purpose {
    /// What it means.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Whether it is a URL that the counts are of: one that is queued in the URL table.
    pub fn is_counted(self) -> bool {
        self.row().queue == Queue::Table
    }

    /// Whether it is fetched for what is on it.
    pub fn is_of_a_page(self) -> bool {
        self.row().of_page
    }

    /// Whether a failure may be its own: whoever waits for what is on it waits no longer than it has attempts.
    pub fn may_be_at_fault(self) -> bool {
        self.is_of_a_page() || self.is_link_check() || matches!(self, Self::Guess | Self::Confirm)
    }

    /// Whether no budget of pages is for it.
    pub fn is_beside_budget(self) -> bool {
        self.is_due() || self.is_link_check() || self == Self::Confirm
    }

    /// Whether it is to find out whether a URL is there that is none of the crawl.
    pub fn is_link_check(self) -> bool {
        self.row().taker == ReportTaker::LinkChecks
    }

    /// Whether it is a page that is due between sequences.
    pub fn is_due(self) -> bool {
        matches!(self, Self::Due | Self::DueAudit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_finds_its_row() {
        for (number, row) in TABLE.iter().enumerate() {
            assert_eq!((row.purpose as usize, row.purpose.row().purpose), (number, row.purpose));
            assert!(row.of_page || !row.purpose.is_counted(), "what is counted is a page");
        }
    }
}
