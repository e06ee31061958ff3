//! [`RuleLists`]: what the rules with lists of the user's go by.

use super::{KeyRewrite, NamePattern};

/// The lists of the rules `strip-query`, `session`, `index-page` and `rewrite`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleLists {
    /// Names of parameters that are left out.
    pub strip_query: Vec<NamePattern>,
    /// Names of session identifiers, in upper or lower case.
    pub session_names: Vec<NamePattern>,
    /// Names of index pages.
    pub index_pages: Vec<Box<str>>,
    /// What is replaced, in this order.
    pub rewrites: Vec<KeyRewrite>,
}
