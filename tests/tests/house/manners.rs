//! Manners: lints shared by all members and silenced only with a reason, nothing ignored, nothing left to do, one statement a
//! line.

use std::fs;

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, Local, Macro, Meta, Pat,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{
    assert_none,
    source::{Source, below, root},
};

/// Macros that stand for missing code.
const UNFINISHED: &[&str] = &["todo", "unimplemented"];

#[test]
fn every_member_shares_the_lints() {
    let members = members(&fs::read_to_string(root().join("Cargo.toml")).unwrap());
    assert!(!members.is_empty(), "the workspace names no members");
    let silent = members.into_iter().filter(|member| {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        !shares_lints(&manifest)
    });
    let faults: Vec<_> = silent.map(|member| format!("{member}/Cargo.toml: no `[lints] workspace = true`")).collect();
    assert_none("lints", &faults);
}

#[test]
fn no_lint_is_silenced_without_reason_and_nothing_is_left_out() {
    let members = members(&fs::read_to_string(root().join("Cargo.toml")).unwrap());
    let members: Vec<_> = members.iter().map(String::as_str).collect();
    let faults: Vec<_> = below(&members).iter().flat_map(faults).collect();
    assert_none("manners", &faults);
}

/// The folders in `members = ["…", "…"]` of a workspace manifest.
fn members(manifest: &str) -> Vec<String> {
    let list =
        manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty()).collect()
}

fn shares_lints(manifest: &str) -> bool {
    let lints = manifest.lines().skip_while(|line| line.trim() != "[lints]").skip(1);
    lints.take_while(|line| !line.trim().starts_with('[')).any(|line| line.replace(' ', "") == "workspace=true")
}

fn faults(source: &Source) -> Vec<String> {
    let mut manners = Manners { path: &source.path, faults: Vec::new() };
    manners.visit_file(&source.whole);
    manners.faults
}

struct Manners<'a> {
    path: &'a str,
    faults: Vec<String>,
}

impl Manners<'_> {
    fn fault(&mut self, spanned: &impl Spanned, fault: &str) {
        self.faults.push(format!("{}:{}: {fault}", self.path, spanned.span().start().line));
    }

    /// Calls inside other macros' arguments are only tokens.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut last = None;
        for token in tokens {
            match (&last, &token) {
                (Some(TokenTree::Ident(name)), TokenTree::Punct(mark))
                    if mark.as_char() == '!' && mark.spacing() == Spacing::Alone =>
                {
                    self.check_macro(&name.to_string(), &token);
                }
                (_, TokenTree::Group(group)) => self.visit_tokens(group.stream()),
                _ => {}
            }
            last = Some(token);
        }
    }

    fn check_macro(&mut self, name: &str, spanned: &impl Spanned) {
        if UNFINISHED.contains(&name) {
            self.fault(spanned, &format!("`{name}!`: finish it or leave it out"));
        }
    }
}

impl<'ast> Visit<'ast> for Manners<'_> {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        let silences = |path: &syn::Path| path.is_ident("allow") || path.is_ident("expect");
        let hidden = attribute.path().is_ident("cfg_attr") && tokens.contains("allow (");
        if (silences(attribute.path()) || hidden) && !tokens.contains("reason =") {
            self.fault(attribute, "a lint is silenced without `reason = \"…\"`");
        }
        if attribute.path().is_ident("ignore") {
            self.fault(attribute, "an ignored test keeps no promise: run it or remove it");
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if packs_statements(local) {
            self.fault(local, "a tuple packs three statements or more into one");
        }
        visit::visit_local(self, local);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        self.check_macro(&name, call);
        self.visit_tokens(call.tokens.clone());
    }
}

/// `let (a, b, c) = (1, 2, 3);`
fn packs_statements(local: &Local) -> bool {
    let names = match &local.pat {
        Pat::Tuple(names) if names.elems.iter().all(|name| matches!(name, Pat::Ident(_))) => names.elems.len(),
        _ => 0,
    };
    let values = local.init.as_ref().map(|init| &*init.expr);
    names > 2 && matches!(values, Some(Expr::Tuple(values)) if values.elems.len() == names)
}

#[test]
fn statements_that_are_packed_into_a_tuple_are_a_fault() {
    let count = |text: &str| faults(&Source::new("a.rs", text)).len();
    assert_eq!(count("fn a() { let (b, mut c, d) = (1, e(), 2); }"), 1);
    assert_eq!(count("fn a() { if b { let c = || { let (d, e, f) = (1, 2, 3); }; } }"), 1);
    assert_eq!(count("fn a() { let (b, c) = (1, 2); let (d, e, f) = g(); }"), 0);
}

#[test]
fn a_member_without_the_lints_is_a_fault() {
    assert!(shares_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
    assert!(!shares_lints("[package]\nversion.workspace = true\n[lints]\n[dependencies]\nworkspace = true\n"));
    assert!(!shares_lints("[package]\n"));
    assert_eq!(members("[workspace]\nmembers = [\"a\", \"b/c\"]\n"), ["a", "b/c"]);
}

#[test]
fn silence_without_reason_is_a_fault() {
    let count = |text: &str| faults(&Source::new("a.rs", text)).len();
    assert_eq!(count("#[allow(dead_code)]\nfn a() {}"), 1);
    assert_eq!(count("#![allow(clippy::all)]"), 1);
    assert_eq!(count("fn a() { #[expect(unused)] let b = 1; }"), 1);
    assert_eq!(count("#[cfg_attr(test, allow(unused))] fn a() {}"), 1);
    assert_eq!(count("#[expect(dead_code, reason = \"kept for the next format\")]\nfn a() {}"), 0);
}

#[test]
fn what_is_ignored_or_unfinished_is_a_fault() {
    let count = |text: &str| faults(&Source::new("a.rs", text)).len();
    assert_eq!(count("#[test]\n#[ignore = \"slow\"]\nfn a() {}"), 1);
    assert_eq!(count("fn a() { todo!() }"), 1);
    assert_eq!(count("#[cfg(test)] mod tests { fn a() { vec![b(unimplemented!(\"c\"))] } }"), 1);
    assert_eq!(count("fn a() { let todo = 1; assert!(todo != 2, \"todo!\") }"), 0);
}
