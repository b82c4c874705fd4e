//! Resident memory, where the system tells it.

/// Kilobytes that are resident of a process; none where there is no `/proc`.
pub(super) fn of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    parse(&status)
}

/// Of this process.
pub(super) fn own() -> Option<u64> {
    of(std::process::id())
}

fn parse(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_line_of_the_kernel_is_read() {
        assert_eq!(super::parse("Name:\tx\nVmRSS:\t   1234 kB\n"), Some(1234));
        assert_eq!(super::parse("Name:\tx\n"), None);
    }
}
