//! The process's own figures.

/// CPU seconds (user and system) of this process since it started.
pub fn cpu_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Highest resident memory of this process so far, in bytes; `None` where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    status_kib("VmHWM:")
}

/// Resident memory of this process, in bytes; `None` where the system does not tell.
pub fn memory() -> Option<u64> {
    status_kib("VmRSS:")
}

/// How many file descriptors this process has open; `None` where the system does not tell.
pub fn open_files() -> Option<u64> {
    std::fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64)
}

/// How many it may have; `None` where there is no limit.
pub fn most_open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

fn status_kib(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_plausible() {
        assert!(cpu_seconds() >= 0.0);
        assert!(peak_memory() >= memory().map(|now| now.min(1 << 20)));
    }
}
