//! What runs that are cancelled leave open in the process: nothing.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use bulkhead_store::testing::{Kind, TestDatabase};
use futures::future::join_all;
use serde_json::json;

use crate::{
    program::{Client, Program},
    random::Random,
    talk,
};

/// Agents whose runs are cancelled at the same time.
const AGENTS: usize = 6;
/// Runs of each.
const ROUNDS: usize = 12;
/// Files of the pools that the rounds before the count may not have opened: a reader of SQLite has
/// three.
const SLACK: usize = 6;
/// Connections of Postgres' pool, each of which is a file.
const POOL: usize = 16;
/// Runs of each before the count, for pools to grow.
const FIRST_ROUNDS: usize = 3;
/// Connections that were closed are noticed by then.
const SETTLED: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_are_cancelled_leave_no_file_and_no_thread_on_sqlite() {
    leave_nothing(None, Random::from_environment("leaks")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_are_cancelled_leave_no_file_and_no_thread_on_postgres() {
    let random = Random::from_environment("leaks");
    if let Some(database) = TestDatabase::create(Kind::Postgres).await {
        leave_nothing(Some(database), random).await;
    }
}

async fn leave_nothing(database: Option<TestDatabase>, mut random: Random) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut program = Program::new(database);
    program.start().await;
    let client = program.client_without_memory();
    client.push("hostile", bulkhead_fixtures::HOSTILE).await;
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        agents.push(agent(&client).await);
    }
    let slack = if program.is_shared() { POOL } else { SLACK };
    round(&client, &agents, FIRST_ROUNDS, &mut random).await;
    let before = settled(&program, (0, 0)).await;
    round(&client, &agents, ROUNDS, &mut random).await;
    let most = (before.0 + slack, before.1);
    let after = settled(&program, most).await;
    assert!(
        after.0 <= most.0 && after.1 <= most.1,
        "files and threads: {before:?}, then {after:?}"
    );
    let metrics = client.request(reqwest::Method::GET, "/metrics");
    let metrics = metrics.send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("bulkhead_slots_in_use 0\n"), "{metrics}");
    assert_eq!(client.get("/v1/runs/active").await, json!([]));
}

async fn agent(client: &Client) -> String {
    let listed = client.get("/v1/tools/?name=spin").await;
    let body = json!({
        "model": "bulkhead/scripted", "include_base_tools": false,
        "tool_ids": [listed[0]["id"]],
    });
    let made = client.post("/v1/agents/", &body).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Cancels some runs of every agent.
async fn round(client: &Client, agents: &[String], times: usize, random: &mut Random) {
    let talks = agents.iter().map(|agent| {
        let mut random = random.split();
        async move {
            for _ in 0..times {
                cancelled(client, agent, &mut random).await;
            }
        }
    });
    join_all(talks).await;
}

/// One run in one of the ways that there are, until it is over.
async fn cancelled(client: &Client, agent: &str, random: &mut Random) {
    let input = [
        "wait 20s\nsay late",
        "pause 5ms\nsay a b c d e f g h",
        "call spin",
    ];
    let input = input[random.below(3) as usize];
    let way = random.below(4);
    let path = format!("/v1/agents/{agent}/messages");
    let to = if way == 0 {
        path.clone()
    } else {
        format!("{path}/stream")
    };
    let body = match way {
        0 => json!({ "input": input }),
        way => json!({ "input": input, "stream_tokens": way > 1, "background": way > 2 }),
    };
    let mut answer = std::pin::pin!(async {
        match way {
            // One that leaves soon leaves nothing either.
            3 => {
                let soon = Duration::from_millis(30);
                drop(tokio::time::timeout(soon, talk::post(client, &to, &body)).await);
            }
            _ => drop(talk::post(client, &to, &body).await.expect(&[200])),
        }
    });
    let cancel = format!("{path}/cancel");
    let active = format!("/v1/runs/?agent_id={agent}&active=true");
    let mut is_over = false;
    // What came later than a request to cancel is cancelled by the next.
    while !is_over || client.get(&active).await != json!([]) {
        tokio::select! {
            () = &mut answer, if !is_over => is_over = true,
            () = tokio::time::sleep(random.millis(0, 40)) => {
                let asked = talk::post(client, &cancel, &json!({})).await;
                asked.expect(&[200, 409]);
            }
        }
    }
}

/// How many files and threads a process has, once they are not more than so many or time is over.
async fn settled(program: &Program, most: (usize, usize)) -> (usize, usize) {
    let begun = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let count = |what| {
            let folder = format!("/proc/{}/{what}", program.id());
            std::fs::read_dir(folder).unwrap().count()
        };
        let now = (count("fd"), count("task"));
        let is_first = most == (0, 0) && begun.elapsed() > Duration::from_secs(1);
        let is_settled = now.0 <= most.0 && now.1 <= most.1;
        if is_first || is_settled || begun.elapsed() > SETTLED {
            return now;
        }
    }
}
