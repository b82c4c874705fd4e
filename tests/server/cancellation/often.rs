//! Many runs, cancelled at random moments: whatever the moment was, everything agrees afterwards and
//! nothing is left of them.
//!
//! `BULKHEAD_CANCEL_SEED` repeats the moments of a run that failed, as far as the machine allows; a
//! failure prints it.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
    time::{Duration, Instant},
};

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{active, slots_in_use};
use crate::{
    both::on_both,
    clients::{patched, read},
    consistency::{agrees, ended, state},
    messages::{agent, path, say, stop, text, tool},
    support::{Answer, TestServer, has_python},
};

/// Set to a number, it repeats the moments of an earlier run.
const SEED: &str = "BULKHEAD_CANCEL_SEED";
/// Agents whose runs are cancelled at the same time.
const AGENTS: usize = 8;
/// Runs of each that are cancelled, one after the other.
const ROUNDS: usize = 25;
/// Many times what the end of a cancelled run takes, on a machine that other tests use too.
const HANGS: Duration = Duration::from_secs(20);

/// Computes until it is stopped.
const PYTHON_SPIN: &str =
    "def snake():\n    \"\"\"Computes.\"\"\"\n    while True:\n        pass\n";

on_both! {
    async fn two_hundred_runs_that_are_cancelled_at_random_moments_leave_nothing(server) {
        let given = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        eprintln!("{SEED}={seed}");
        let tools = tools(&server).await;
        let talks = (0..AGENTS).map(|number| {
            let random = Random(seed.wrapping_add(number as u64));
            talk(&server, &tools, random)
        });
        let cancelled: usize = join_all(talks).await.into_iter().sum();
        // Some were faster than who wanted to cancel them.
        assert!(cancelled >= AGENTS * ROUNDS / 2, "only {cancelled} were cancelled");
        slots_in_use(&server, 0).await;
        assert_eq!(read(&server, "/v1/runs/active").await, json!([]));
    }
}

/// Tools that take as long as they are let, and one that does not.
async fn tools(server: &TestServer) -> Vec<Value> {
    let pushed = server.push("hostile", bulkhead_fixtures::HOSTILE).await;
    assert_eq!(pushed.status, 201, "{pushed:?}");
    let listed = read(server, "/v1/tools/?name=spin").await;
    let mut ids = vec![
        listed[0]["id"].clone(),
        tool(server, "twice", "return a + a").await.into(),
        tool(server, "secret", "return 'the secret ' + a")
            .await
            .into(),
        tool(server, "loops", "while (true) {}").await.into(),
    ];
    if has_python() {
        let body = json!({ "source_code": PYTHON_SPIN });
        let saved = server.post("/v1/tools/", &body).await;
        assert_eq!(saved.status, 200, "{saved:?}");
        ids.push(saved.body["id"].clone());
    }
    ids
}

/// Has the runs of a new agent cancelled, and gives how many were.
async fn talk(server: &TestServer, tools: &[Value], mut random: Random) -> usize {
    let more = json!({ "tool_ids": tools, "parallel_tool_calls": true });
    let agent = agent(server, more).await;
    let approval = format!("/v1/agents/{agent}/tools/approval/secret");
    patched(server, &approval, &json!({ "requires_approval": true })).await;
    let mut cancelled = 0;
    for round in 0..ROUNDS {
        let scene = SCENES[random.below(SCENES.len())];
        let begun = Instant::now();
        let runs = match scene {
            Scene::Asks(input) => asked(server, &agent, input, &mut random).await,
            Scene::Says(input) => said(server, &agent, input, &mut random).await,
        };
        assert!(begun.elapsed() < HANGS, "{scene:?}: {:?}", begun.elapsed());
        for run in &runs {
            let run = ended(server, run).await;
            match (text(&run["status"]), text(&run["stop_reason"])) {
                ("cancelled", "cancelled") => cancelled += 1,
                ("completed", "end_turn" | "max_steps" | "requires_approval") => {}
                _ => panic!("{scene:?}: {run}"),
            }
        }
        agrees(server, &agent).await;
        let left = state(server, &agent).await;
        assert_eq!(left["pending_approval"], Value::Null, "{scene:?}");
        if round % 5 == 4 {
            assert_eq!(stop(&say(server, &agent, "say Fine.").await), "end_turn");
        }
    }
    cancelled
}

/// What goes on when somebody cancels.
#[derive(Debug, Clone, Copy)]
enum Scene {
    /// A request is answered in one way or another.
    Says(&'static str),
    /// The same, by a call that waits for an approval.
    Asks(&'static str),
}

const SCENES: [Scene; 10] = [
    Scene::Says("wait 20s\nsay late"),
    Scene::Says("pause 4ms\nsay a b c d e f g h i j k l m n o p q r s t u v w x y z"),
    Scene::Says("think hm\npause 3ms\ncall twice with {\"a\":\"some longer text\"}\nrepeat"),
    Scene::Says("call spin"),
    Scene::Says("call loops"),
    // Where there is no Python there is no such tool, and the model is told so.
    Scene::Says("call snake\nthen\nwait 20s\nsay late"),
    Scene::Says("call twice with {\"a\":\"x\"}\ncall loops\ncall spin\nthen\nsay late"),
    Scene::Says("call twice with {\"a\":\"x\"}\ncall secret\nthen\nsay late"),
    Scene::Asks("call secret with {\"a\":\"x\"}\nthen\nwait 20s\nsay late"),
    Scene::Asks("call secret\ncall twice\nthen\ncall spin"),
];

/// Sends a text, or two at once, cancels, and gives the runs once all is over.
async fn said(server: &TestServer, agent: &str, input: &str, random: &mut Random) -> Vec<String> {
    let before = newest(server, agent).await;
    let mut answers = vec![sent(server, agent, json!({ "input": input }), random)];
    if random.below(6) == 0 {
        answers.push(sent(
            server,
            agent,
            json!({ "input": "say second" }),
            random,
        ));
    }
    cancel(server, agent, random).await;
    over(server, agent, answers, before).await
}

/// Has the agent ask for an approval; the answer comes at about the moment of the cancel.
async fn asked(server: &TestServer, agent: &str, input: &str, random: &mut Random) -> Vec<String> {
    let before = newest(server, agent).await;
    let asked = say(server, agent, input).await;
    assert_eq!(stop(&asked), "requires_approval", "{asked}");
    let state = state(server, agent).await;
    let calls = state["pending_approval"]["tool_calls"].as_array().unwrap();
    let approve = |call: &Value| {
        let id = &call["tool_call_id"];
        json!({ "type": "approval", "tool_call_id": id, "approve": true })
    };
    let approvals: Vec<Value> = calls.iter().map(approve).collect();
    let body = json!({ "messages": [{ "type": "approval", "approvals": approvals }] });
    let answers = match random.below(3) {
        // Nobody answers it.
        0 => Vec::new(),
        _ => vec![sent(server, agent, body, random)],
    };
    cancel(server, agent, random).await;
    over(server, agent, answers, before).await
}

/// Sends a body in one of the ways that there are; its answer, once it is over.
fn sent(
    server: &TestServer,
    agent: &str,
    mut body: Value,
    random: &mut Random,
) -> JoinHandle<Answer> {
    let way = random.below(6);
    let rest = match way {
        0 => "",
        1 => "/async",
        _ => "/stream",
    };
    if way > 1 {
        body["stream_tokens"] = json!(way.is_multiple_of(2));
        body["background"] = json!(way > 3);
    }
    let request = server.request(Method::POST, &path(agent, rest)).json(&body);
    tokio::spawn(async move { Answer::read(request.send().await.unwrap()).await })
}

/// Cancels at a random moment, once, twice at once, or by name.
async fn cancel(server: &TestServer, agent: &str, random: &mut Random) {
    let moment = Duration::from_micros(random.below(60_000) as u64);
    tokio::time::sleep(moment).await;
    let path = path(agent, "/cancel");
    let all = json!({});
    let answers = match random.below(4) {
        0 => {
            let (one, other) = futures::join!(server.post(&path, &all), server.post(&path, &all));
            vec![one, other]
        }
        1 => match newest(server, agent).await {
            Value::Null => Vec::new(),
            run => vec![server.post(&path, &json!({ "run_ids": [run] })).await],
        },
        _ => Vec::new(),
    };
    for answer in answers {
        assert!([200, 409].contains(&answer.status.as_u16()), "{answer:?}");
    }
    // Until nothing is left: a request may have been on its way when the others were cancelled.
    let begun = Instant::now();
    loop {
        let answer = server.post(&path, &all).await;
        match answer.status.as_u16() {
            200 => {}
            409 if active_runs(server, agent).await == json!([]) => break,
            409 => {}
            _ => panic!("{answer:?}"),
        }
        assert!(begun.elapsed() < HANGS, "{:?}", begun.elapsed());
    }
}

async fn active_runs(server: &TestServer, agent: &str) -> Value {
    read(server, &format!("/v1/runs/?agent_id={agent}&active=true")).await
}

async fn newest(server: &TestServer, agent: &str) -> Value {
    let runs = read(server, &format!("/v1/runs/?agent_id={agent}&limit=1")).await;
    runs[0]["id"].clone()
}

/// Waits for answers, checks each, and gives the runs since the one that was the newest before.
async fn over(
    server: &TestServer,
    agent: &str,
    answers: Vec<JoinHandle<Answer>>,
    before: Value,
) -> Vec<String> {
    for answer in answers {
        // What came too late to be cancelled is cancelled now.
        let mut answer = answer;
        let answer = loop {
            match tokio::time::timeout(Duration::from_millis(100), &mut answer).await {
                Ok(answer) => break answer.unwrap(),
                Err(_) => drop(server.post(&path(agent, "/cancel"), &json!({})).await),
            }
        };
        ends_once(&answer);
    }
    active(server, agent, 0).await;
    // An approval that came late may have made the agent ask again.
    let left = state(server, agent).await;
    if !left["pending_approval"].is_null() {
        let cancelled = server.post(&path(agent, "/cancel"), &json!({})).await;
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
    }
    let mut path = format!("/v1/runs/?agent_id={agent}&order=asc&limit=1000");
    if let Some(before) = before.as_str() {
        path = format!("{path}&after={before}");
    }
    let runs = read(server, &path).await;
    let runs = runs.as_array().unwrap().iter();
    // Requests that were refused because of what the agent waited for have runs that failed.
    let runs = runs.filter(|run| run["status"] != "failed" || !is_refused(run));
    runs.map(|run| text(&run["id"]).to_owned()).collect()
}

/// Whether a run failed because it found another open request than it expected.
fn is_refused(run: &Value) -> bool {
    let error = run["metadata"]["error"].to_string();
    error.contains("waiting for approval") || error.contains("awaiting approval")
}

/// An answer says once why its run ended, and a stream says nothing afterwards but what it cost.
fn ends_once(answer: &Answer) {
    if !answer.text.starts_with("data: ") {
        // Refused, or not at all: the request was open no more, or open again.
        let status = answer.status.as_u16();
        assert!([200, 400, 409].contains(&status), "{answer:?}");
        return;
    }
    let reasons: Vec<&str> = answer
        .text
        .lines()
        .filter(|line| line.contains("\"message_type\":\"stop_reason\""))
        .collect();
    assert_eq!(reasons.len(), 1, "{}", answer.text);
    let is_done = answer.text.ends_with("data: [DONE]\n\n");
    let is_cancelled = reasons[0].contains("\"cancelled\"");
    assert!(is_done != is_cancelled, "{}", answer.text);
    if is_cancelled {
        let last = answer.text.trim_end().lines().last().unwrap();
        assert_eq!(last, reasons[0], "{}", answer.text);
    }
}

/// A stream of random numbers (splitmix64).
struct Random(u64);

impl Random {
    /// A number from 0 to `most - 1`.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed % most as u64) as usize
    }
}
