//! Components that try to do harm when they are installed. Each test shows the typed error, and
//! that a neighbour's call works afterwards.

use std::time::Duration;

use bulkhead_domain::Problem;
use bulkhead_fixtures::text;
use bulkhead_sandbox::{CacheKey, Component, InstallError, Sandbox, Settings};

use crate::common::*;

fn description_problems(found: Result<Component, InstallError>) -> Vec<Problem> {
    match found {
        Err(InstallError::Description(problems)) => problems,
        other => panic!("{other:?}"),
    }
}

// 2 loop in describe

#[tokio::test]
async fn a_describe_that_never_returns_is_given_up() {
    for (mode, outcome) in [
        ("spin", "out_of_fuel"),
        ("sleep", "deadline_exceeded"),
        ("panic", "trap"),
        ("bomb", "out_of_memory"),
    ] {
        match install_attack(&bulkhead_fixtures::misdescribe(mode)).await {
            Err(InstallError::Describe(message)) => {
                assert!(message.starts_with(outcome), "{message}")
            }
            other => panic!("{mode}: {other:?}"),
        }
    }
}

// 3 loop in a start function

#[tokio::test]
async fn a_start_function_that_never_ends_is_given_up() {
    let bytes = wat(text::START_LOOP);
    match install_attack(&bytes).await {
        Err(InstallError::Describe(message)) => assert!(message.starts_with("out_of_fuel")),
        other => panic!("{other:?}"),
    }
}

// 7 thousands of instances

#[tokio::test]
async fn thousands_of_instances_are_refused() {
    let found = install_attack(&wat(&text::many_instances(5_000))).await;
    assert!(
        matches!(
            found,
            Err(InstallError::Invalid(_) | InstallError::Compile(_))
        ),
        "{found:?}"
    );
}

// 27 tampered or foreign compiled artifact: see also the tests of `cache.rs`

#[tokio::test]
async fn a_tampered_artifact_is_compiled_anew_and_a_good_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = || Settings {
        cache_dir: Some(folder.path().to_owned()),
        cache_key: Some(CacheKey::new([7; 32])),
        slots: 4,
        ..Settings::default()
    };
    let sandbox = Sandbox::new(settings()).unwrap();
    friendly(&sandbox).await;
    assert_eq!(sandbox.cache_counts(), (0, 1));
    let sandbox = Sandbox::new(settings()).unwrap();
    friendly(&sandbox).await;
    assert_eq!(sandbox.cache_counts(), (1, 0));

    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(path, bytes).unwrap();
    }
    let sandbox = Sandbox::new(settings()).unwrap();
    let friendly = friendly(&sandbox).await;
    assert_eq!(sandbox.cache_counts(), (0, 1));
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

// 28 malformed and 50 MB components, compile bombs

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_that_is_cut_or_changed_anywhere_never_harms_the_host() {
    let sandbox = Sandbox::new(Settings {
        slots: 4,
        ..Settings::default()
    })
    .unwrap();
    let friendly = friendly(&sandbox).await;
    let good = bulkhead_fixtures::misdescribe("honest");
    for step in 0..40 {
        let at = good.len() * step / 40;
        assert!(sandbox.install(&good[..at]).await.is_err(), "cut at {at}");
    }
    for step in 1..40 {
        let mut bad = good.clone();
        let at = good.len() * step / 40;
        bad[at] = !bad[at];
        // A changed byte may still be a valid component; it must only never harm the host.
        let _ = sandbox.install(bad).await;
    }
    neighbour_is_unharmed(&sandbox, &friendly).await;
}

#[tokio::test]
async fn more_bytes_than_allowed_are_refused_before_they_are_read() {
    let settings = Settings {
        max_component_bytes: 1 << 20,
        ..Settings::default()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let found = sandbox.install(vec![0; 50 << 20]).await;
    assert!(
        matches!(
            found,
            Err(InstallError::TooLarge {
                actual: 0x320_0000,
                ..
            })
        ),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_function_of_many_megabytes_is_refused_before_it_is_compiled() {
    let mut body = String::with_capacity(16 << 20);
    for _ in 0..800_000 {
        body.push_str("i32.const 1 drop ");
    }
    let text = format!(
        r#"(component (core module $m (func (export "f") {body}))
            (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    match install_attack(&wat(&text)).await {
        Err(InstallError::Invalid(message)) => assert!(message.contains("one function")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn compiling_that_takes_too_long_is_given_up() {
    let settings = Settings {
        compile_timeout: Duration::from_millis(1),
        ..Settings::default()
    };
    let sandbox = Sandbox::new(settings).unwrap();
    let found = sandbox.install(bulkhead_fixtures::FRIENDLY).await;
    let given_up = matches!(
        found,
        Err(InstallError::CompileTimeout(_) | InstallError::Busy)
    );
    assert!(given_up, "{found:?}");
}

// 29 unknown import, wrong version, duplicate names, hostile schema or description

#[tokio::test]
async fn what_a_component_says_of_itself_is_checked() {
    for (mode, at) in [
        ("twice", "/1/name"),
        ("name", "/0/name"),
        ("hidden", "/0/description"),
        ("long", "/0/description"),
        ("no-json", "/0/input_schema"),
        ("deep", "/0/input_schema"),
        ("too-deep", "/0/input_schema"),
        ("huge", "/0/input_schema"),
        ("reference", "/0/input_schema"),
    ] {
        let problems =
            description_problems(install_attack(&bulkhead_fixtures::misdescribe(mode)).await);
        assert!(
            problems.iter().any(|problem| problem.at == at),
            "{mode}: {problems:?}"
        );
    }
    let found = install_attack(&bulkhead_fixtures::misdescribe("none")).await;
    assert!(matches!(found, Err(InstallError::NoTools(_))), "{found:?}");
    assert!(
        install_attack(&bulkhead_fixtures::misdescribe("thousands"))
            .await
            .is_err()
    );
    assert!(
        install_attack(&bulkhead_fixtures::misdescribe("honest"))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn an_import_of_a_known_interface_with_another_type_is_refused() {
    let bytes = wat(text::WRONG_IMPORT);
    let found = install_attack(&bytes).await;
    assert!(
        matches!(found, Err(InstallError::UnknownImports(_))),
        "{found:?}"
    );
}
