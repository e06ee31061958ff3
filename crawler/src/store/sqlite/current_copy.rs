//! Which copy of a page is its current one.

/// SQL for the visit with the current copy of `url`, where `last` is its last visit and `page_state` what was last reported of it: the last
/// visit if it stored a page, none if it says that there is no page or that is what was reported, or else the last copy: a page
/// that does not answer, or is refused, is there as far as is known.
macro_rules! current_copy {
    () => {
        "CASE WHEN last.outcome = 'stored' THEN last.id
              WHEN last.outcome = 'redirected' OR last.status = 404 OR last.status = 410
                OR page_state.condition = 'gone' OR page_state.condition = 'moved' OR page_state.doubt = 'missing' THEN NULL
              ELSE url.copy END"
    };
}

pub(super) use current_copy;
