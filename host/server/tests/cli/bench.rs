//! `bulkhead bench`: the keys that later work only adds to.

use crate::support::{Ended, bulkhead};

#[test]
fn the_quick_bench_gives_every_figure_and_compiles_no_runtime() {
    let caches = tempfile::tempdir().expect("a temporary folder");
    let ended = bulkhead(&["bench", "--quick", "--json"])
        .env("XDG_CACHE_HOME", caches.path())
        .env_remove("BULKHEAD_BENCH_POSTGRES")
        .output();
    let figures = Ended::from(ended.expect("the program runs")).with(0).json();
    for (key, parts) in [
        ("native_call_us", &["p50", "p99"][..]),
        ("native_call_http_us", &["p50", "p99"]),
        ("instantiate_us", &["p50"]),
        ("step_us", &["p50", "p99"]),
        ("first_token_overhead_us", &["p50", "p99"]),
        ("cancel_model_ms", &["p50", "p95"]),
    ] {
        for part in parts {
            assert!(
                figures[key][part].as_f64() > Some(0.0),
                "{key}.{part}: {figures:#}"
            );
        }
    }
    for key in [
        "http_calls_per_s_64",
        "install_cold_ms",
        "install_cached_ms",
        "start_to_healthy_ms",
        "agents_created_per_s",
        "conversations_100_efficiency",
    ] {
        assert!(figures[key].as_f64() > Some(0.0), "{key}: {figures:#}");
    }
    assert_eq!(figures["waiting_1000_ok"], true);
    for key in ["version", "profile", "cores"] {
        assert!(!figures[key].is_null(), "{key}: {figures:#}");
    }
    // Null where this machine has no such thing, but there.
    for key in [
        "idle_rss_mb",
        "python_call_us",
        "javascript_call_us",
        "spawn_node_us",
        "spawn_python_us",
        "spawn_true_us",
        "memory_per_idle_tool_kb",
        "memory_per_call_kb",
        "rss_10000_agents_100_running_mb",
    ] {
        assert!(figures.get(key).is_some(), "{key}: {figures:#}");
    }
    // Compiling them takes longer than a quick bench may.
    let javascript = figures["notes"]["javascript_call_us"].as_str();
    assert!(
        javascript.is_some_and(|note| note.contains("run `bulkhead bench` once")),
        "{figures:#}"
    );
    for key in [
        "python_call_us",
        "javascript_call_us",
        "cancel_tool_ms",
        // No database was named.
        "step_postgres_us",
    ] {
        assert!(figures[key].is_null(), "{key}: {figures:#}");
        assert!(figures["notes"][key].is_string(), "{key}: {figures:#}");
    }
}
