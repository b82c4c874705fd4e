//! Ctrl-C.

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_a_running_call() {
    use std::{
        io::{BufRead, BufReader},
        process::Stdio,
        time::{Duration, Instant},
    };

    use crate::support::{bulkhead, demo_component, signal};

    let (_folder, file) = demo_component();
    let mut child = bulkhead(&["run", &file, "spin", "--fuel", "100G", "--timeout", "60s"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // It says that it compiles; shortly after that it runs, or is still compiling: both end.
    let mut line = String::new();
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    lines.read_line(&mut line).expect("a line");
    assert!(line.contains("compiling"), "{line}");
    std::thread::sleep(Duration::from_secs(3));
    let start = Instant::now();
    signal(&child, "INT");
    let code = child.wait().expect("it ends").code();
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "it did not wait for the deadline"
    );
    // By the signal itself (no code) if it was still compiling.
    assert!(matches!(code, Some(130) | None), "{code:?}");
}
