//! What a process costs for every call: the comparison.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use super::{
    Effort,
    stats::{Middle, Samples},
};

/// `python3 -c pass`, from start to end; none where there is no python3.
pub(super) fn python(effort: Effort) -> Option<Middle> {
    // The interpreter itself: what stands in the path may be a script that looks for it.
    let found = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .ok()?;
    let program = String::from_utf8(found.stdout).ok()?;
    measured(
        program.trim(),
        &["-c", "pass"],
        effort,
        effort.of(2, 5),
        effort.of(20, 100),
    )
}

/// `node -e 0`, from start to end; none where there is no node.
pub(super) fn node(effort: Effort) -> Option<Middle> {
    measured(
        "node",
        &["-e", "0"],
        effort,
        effort.of(2, 5),
        effort.of(20, 100),
    )
}

/// `/bin/true`, from start to end; none where there is none.
pub(super) fn nothing(effort: Effort) -> Option<Middle> {
    measured(
        "/bin/true",
        &[],
        effort,
        effort.of(5, 20),
        effort.of(100, 500),
    )
}

fn measured(
    program: &str,
    args: &[&str],
    effort: Effort,
    warm_up: usize,
    count: usize,
) -> Option<Middle> {
    let mut samples = Samples::default();
    let begun = Instant::now();
    for turn in 0..warm_up + count {
        if turn > warm_up && !effort.goes_on(begun) {
            break;
        }
        let start = Instant::now();
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !command.status().ok()?.success() {
            return None;
        }
        if turn >= warm_up {
            samples.push(start.elapsed());
        }
    }
    Some(samples.middle())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_gives_no_figure() {
        assert!(measured("/no/such/program", &[], Effort { quick: true }, 0, 1).is_none());
    }
}
