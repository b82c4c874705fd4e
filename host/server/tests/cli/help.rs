//! The help of every command is kept as a golden file; `BLESS=1` writes them anew.

use std::{collections::BTreeSet, fs, path::Path};

use crate::support::{bulkhead, run};

/// The help of a command, and the names of its subcommands.
fn help(path: &[String]) -> (String, Vec<String>) {
    let mut command = bulkhead(&[]);
    let output = command
        .args(path)
        .arg("--help")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{path:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A name stands two columns in; what a long description wraps to stands further in.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let names = names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    (text, names)
}

#[test]
fn the_help_of_every_command_is_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli-help");
    let bless = std::env::var_os("BLESS").is_some();
    let mut open = vec![Vec::new()];
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        let (text, commands) = help(&path);
        let name = if path.is_empty() {
            "bulkhead".to_owned()
        } else {
            path.join("-")
        };
        let file = folder.join(format!("{name}.txt"));
        if bless {
            fs::write(&file, &text).expect("writable");
        }
        let golden = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(
            text, golden,
            "the help of {path:?} changed; bless it with BLESS=1"
        );
        seen.insert(format!("{name}.txt"));
        open.extend(
            commands
                .into_iter()
                .map(|name| [path.clone(), vec![name]].concat()),
        );
    }
    for expected in [
        "run",
        "serve",
        "bench",
        "demo",
        "tool-new",
        "tool-push",
        "tool-credential-set",
        "user-create",
        "user-set-password",
    ] {
        assert!(
            seen.contains(&format!("{expected}.txt")),
            "{expected} in {seen:?}"
        );
    }
    for file in fs::read_dir(folder).expect("readable") {
        let name = file
            .expect("readable")
            .file_name()
            .into_string()
            .expect("UTF-8");
        assert!(seen.contains(&name), "{name} is the help of no command");
    }
}

#[test]
fn the_help_has_examples_and_every_exit_code() {
    let help = run(&["--help"]).with(0).out;
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
    for code in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"] {
        assert!(
            help.lines()
                .any(|line| line.trim_start().starts_with(&format!("{code}  ")))
        );
    }
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    run(&[]).with(2);
    run(&["--nonsense"]).with(2);
    run(&["tool"]).with(2);
    run(&["user", "create"]).with(2);
    run(&["run", "x.wasm", "--fuel", "much"]).with(2);
    run(&["run", "/no/such/file.wasm"]).with(2);
    run(&["tool", "grant", "demo"]).with(2);
    run(&["tool", "credential", "set", "x", "--audience", "a.example"]).with(2);
}
