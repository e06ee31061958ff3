//! The limits of the container that this process runs in (control groups, versions 1 and 2).

use std::path::Path;

/// Where the system shows control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// The most memory that this process and its like may take, in bytes; `None` where there is no limit.
pub fn memory_limit() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    memory_limit_in(&groups, Path::new(ROOT))
}

/// The smallest of the limits of the groups that a process is in, and of those that these are in.
fn memory_limit_in(groups: &str, root: &Path) -> Option<u64> {
    groups.lines().filter_map(|line| limit_of(line, root)).min()
}

/// A line is `NUMBER:CONTROLLERS:PATH`; version 2 names no controllers.
fn limit_of(line: &str, root: &Path) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (tree, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        names if names.split(',').any(|name| name == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
        _ => return None,
    };
    // In a container the tree begins at its own group, whatever the path is.
    let below = Path::new(path.trim_start_matches('/'));
    let limits = below.ancestors().filter_map(|group| read(&tree.join(group).join(file)));
    limits.min()
}

/// `max`, or a number that nothing can have, is no limit.
fn read(file: &Path) -> Option<u64> {
    let limit: u64 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    (limit < 1 << 50).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        memory_limit_in(groups, root.path())
    }

    #[test]
    fn the_smallest_limit_counts() {
        let two = [("memory.max", "max\n"), ("pod/memory.max", "268435456\n"), ("pod/web/memory.max", "536870912\n")];
        assert_eq!(limit("0::/pod/web\n", &two), Some(268_435_456));
        assert_eq!(limit("0::/\n", &two), None);
        // In a container the root is its own group.
        assert_eq!(limit("0::/../../else/where\n", &[("memory.max", "1000\n")]), Some(1_000));
        let one =
            [("memory/memory.limit_in_bytes", "9223372036854771712\n"), ("memory/a/memory.limit_in_bytes", "7000")];
        assert_eq!(limit("3:cpu,cpuacct:/a\n5:memory:/a\n0::/\n", &one), Some(7_000));
        assert_eq!(limit("5:memory:/b\n", &one), None);
    }

    #[test]
    fn a_machine_without_groups_has_no_limit() {
        assert_eq!(limit("", &[]), None);
        assert_eq!(limit("0::/a\n:::\nx\n", &[("memory.max", "much\n")]), None);
        assert_ne!(memory_limit(), Some(0));
    }
}
