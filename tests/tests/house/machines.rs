//! The machines of the deciding core: each owns its state and knows no other, so that a signature says what a line may touch.

use crate::{
    assert_none,
    paths::{Named, module_of, named},
    source::{Source, below, shipped},
};

/// The core, whose router alone knows more than one machine.
const CORE: [&str; 2] = ["engine", "core"];

/// The machines that lie in it.
const MACHINES: [&str; 7] = ["admission", "between", "limits", "pages", "robots", "starts", "sweep"];

/// What the engine shows of the core.
const SHOWN: [&str; 3] = ["Between", "CacheFailure", "End"];

/// The machine that lies beside it: its values are known to all, itself to none of them.
const BESIDE: [&str; 3] = ["crate", "frontier", "Frontier"];

#[test]
fn a_machine_knows_no_other() {
    let sources = shipped(below(&["crawler/src/engine/core"]));
    let files = |machine: &str| sources.iter().filter(|source| machine_of(source) == Some(machine)).count();
    let missing: Vec<_> = MACHINES.into_iter().filter(|machine| files(machine) == 0).collect();
    assert!(missing.is_empty(), "no file of {missing:?}");
    assert_none("machines", &sources.iter().flat_map(faults).collect::<Vec<_>>());
}

/// The machine that a file belongs to.
fn machine_of(source: &Source) -> Option<&'static str> {
    let module = module_of(&source.path);
    let inside = module.strip_prefix(&CORE.map(str::to_owned)[..])?;
    MACHINES.into_iter().find(|machine| inside.first().is_some_and(|name| name == machine))
}

fn faults(source: &Source) -> Vec<String> {
    let Some(machine) = machine_of(source) else { return Vec::new() };
    let strange = named(source).into_iter().filter(|named| is_strange(machine, named));
    let fault =
        |named: Named| format!("{}:{}: {machine} knows `{}`", source.path, named.line, named.segments.join("::"));
    strange.map(fault).collect()
}

/// Whether something of the core is named that is not of this machine, or the frontier.
fn is_strange(machine: &str, named: &Named) -> bool {
    let path: Vec<&str> = named.segments.iter().map(String::as_str).collect();
    let of_the_core = match path.strip_prefix(&["crate", CORE[0], CORE[1]]) {
        Some([own, ..]) => *own != machine,
        Some([]) => true,
        None => false,
    };
    let shown = match path.as_slice() {
        ["crate", engine] => *engine == CORE[0],
        ["crate", engine, name, ..] => *engine == CORE[0] && SHOWN.contains(name),
        _ => false,
    };
    of_the_core || shown || path.starts_with(&BESIDE) || path == BESIDE[..2]
}

#[test]
fn a_machine_that_knows_another_is_a_fault() {
    for text in [
        "use super::limits::Limits;",
        "use super::Core;",
        "use crate::engine::core::starts;",
        "use crate::frontier::{Frontier, Lease};",
        "use crate::frontier::*;",
        "use super::*;",
        "use crate::engine::Between;",
        "use crate::engine::*;",
        "fn f(now: Moment) { crate::engine::core::admission::Admission::new() }",
    ] {
        assert_eq!(faults(&Source::new("crawler/src/engine/core/robots.rs", text)).len(), 1, "{text}");
        assert_eq!(faults(&Source::new("crawler/src/engine/core/router/pages.rs", text)), [""; 0], "{text}");
    }
    for text in ["use super::rules::Rules;", "use crate::{engine::judge::Batch, frontier::Lease};"] {
        assert_eq!(faults(&Source::new("crawler/src/engine/core/robots/waiting.rs", text)), [""; 0], "{text}");
    }
}
