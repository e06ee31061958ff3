//! [`without`]: lines, each as often as it is there, whatever their order.

use std::collections::HashMap;

/// Lines but for as many of each as there are of it in others.
pub(super) fn without<'a>(lines: &[&'a str], others: &[&'a str]) -> Vec<&'a str> {
    let mut left = counts(others);
    lines.iter().filter(|line| !take_one(&mut left, line)).copied().collect()
}

/// How often there is each line.
pub(super) fn counts<'a>(lines: &[&'a str]) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for line in lines {
        *counts.entry(*line).or_default() += 1;
    }
    counts
}

/// Takes one of these lines, if there is one left.
pub(super) fn take_one(left: &mut HashMap<&str, usize>, line: &str) -> bool {
    match left.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}
