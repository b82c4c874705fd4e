//! Two servers on one database that get messages for one agent at the same time: their runs take
//! turns, whichever server they are sent to, and what is refused is refused in the contract's words.

use std::time::Duration;

use bulkhead_domain::Run;
use bulkhead_store::{
    InstallationKey, Store,
    testing::{Kind, TestDatabase},
};
use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, PgConnection};

use crate::{
    both::on_both,
    clients::read,
    consistency::{agrees, ended, history},
    conversations::begun,
    live::Live,
    messages::{agent, events, path, say, stop, text, tool, tool_with},
    support::{Answer, TestServer},
};

/// Messages that each server gets at once.
const MESSAGES: usize = 6;

/// What is said in the message of this name, and what it has the agent do.
fn input(name: &str) -> Value {
    json!(format!(
        "call twice with {{\"a\":\"{name}\"}}\nthen\ncall twice with {{\"a\":\"{name}\"}}\nthen\n\
         say done {name}"
    ))
}

/// Sends a message in one of the ways that there are, and gives the run that it began.
async fn sent(server: &TestServer, agent: &str, name: &str, way: usize) -> String {
    let input = input(name);
    match way % 3 {
        0 => {
            let answer = server
                .post(&path(agent, ""), &json!({ "input": input }))
                .await;
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(stop(&answer.body), "end_turn", "{answer:?}");
            text(&answer.body["messages"][0]["run_id"]).to_owned()
        }
        1 => {
            let body = json!({ "input": input, "stream_tokens": true });
            let answer = server.post(&path(agent, "/stream"), &body).await;
            let events = events(&answer);
            assert_eq!(events.last().unwrap().1, "[DONE]", "{}", answer.text);
            text(&events[0].1["run_id"]).to_owned()
        }
        _ => {
            let answer = server
                .post(&path(agent, "/async"), &json!({ "input": input }))
                .await;
            assert_eq!(answer.status, 200, "{answer:?}");
            text(&answer.body["id"]).to_owned()
        }
    }
}

/// The messages of each run in a thread, each run as often as its messages are interrupted.
fn runs(history: &Value) -> Vec<(String, Vec<&str>)> {
    let mut runs: Vec<(String, Vec<&str>)> = Vec::new();
    for message in history.as_array().unwrap() {
        let Some(run) = message["run_id"].as_str() else {
            continue;
        };
        let kind = text(&message["message_type"]);
        match runs.last_mut() {
            Some((last, kinds)) if last == run => kinds.push(kind),
            _ => runs.push((run.to_owned(), vec![kind])),
        }
    }
    runs
}

/// Asks both servers at once.
async fn at_once(
    one: &TestServer,
    other: &TestServer,
    path: &str,
    body: &Value,
) -> (Answer, Answer) {
    futures::join!(one.post(path, body), other.post(path, body))
}

on_both! {
    async fn runs_of_two_servers_never_mix_their_steps_and_none_is_lost(server) {
        let other = server.beside().await;
        let twice = tool(&server, "twice", "return a + a").await;
        let agent = agent(&server, json!({ "tool_ids": [twice] })).await;
        let names: Vec<String> = (0..MESSAGES * 2).map(|number| format!("m{number}x")).collect();
        let sent = names.iter().enumerate().map(|(number, name)| {
            let to = if number % 2 == 0 { &server } else { &other };
            sent(to, &agent, name, number / 2)
        });
        let sent = join_all(sent).await;
        for run in &sent {
            let run = ended(&server, run).await;
            assert_eq!((&run["status"], &run["stop_reason"]),
                (&json!("completed"), &json!("end_turn")), "{run}");
        }
        let history = history(&other, &agent).await;
        let runs = runs(&history);
        let expected = [
            "user_message",
            "tool_call_message",
            "tool_return_message",
            "tool_call_message",
            "tool_return_message",
            "assistant_message",
        ];
        for (run, kinds) in &runs {
            assert!(sent.contains(run), "{run}");
            assert_eq!(*kinds, expected, "{history}");
        }
        assert_eq!(runs.len(), sent.len(), "{history}");
        for (run, name) in sent.iter().zip(&names) {
            let of_run = history.as_array().unwrap().iter();
            let of_run = of_run.filter(|message| message["run_id"] == **run);
            let said: Vec<_> = of_run.collect();
            assert_eq!(said[0]["content"], input(name));
            assert_eq!(said[2]["tool_return"], name.repeat(2));
            assert_eq!(said[5]["content"], format!("done {name}"));
        }
        agrees(&server, &agent).await;
        agrees(&other, &agent).await;
    }

    async fn a_message_waits_for_its_turn_whichever_server_gets_it(server) {
        let other = server.beside().await;
        let agent = agent(&server, json!({})).await;
        let body = json!({ "input": "wait 60s\nsay late" });
        let mut first = Live::open(&server, &agent, &body).await;
        let working = first.run().await;
        let said = json!({ "input": "say hi" });
        let mut second = Live::open(&other, &agent, &said).await;
        let waiting = second.run().await;
        // Many times what it takes to work where nobody else does.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        for (run, status) in [(&working, "running"), (&waiting, "created")] {
            for server in [&server, &other] {
                let run = read(server, &format!("/v1/runs/{run}")).await;
                assert_eq!(run["status"], status, "{run}");
            }
        }
        // One that waits is cancelled where it waits, by the other server.
        let mut third = Live::open(&other, &agent, &said).await;
        let third_run = third.run().await;
        let named = json!({ "run_ids": [&third_run] });
        let cancelled = server.post(&path(&agent, "/cancel"), &named).await;
        assert_eq!(cancelled.body, json!({ &third_run: "cancelled" }), "{cancelled:?}");
        assert_eq!(third.until("stop_reason").await["stop_reason"], "cancelled");
        let named = json!({ "run_ids": [&working] });
        server.post(&path(&agent, "/cancel"), &named).await;
        assert_eq!(second.until("stop_reason").await["stop_reason"], "end_turn");
        assert_eq!(ended(&server, &waiting).await["status"], "completed");
        agrees(&server, &agent).await;
    }

    async fn what_follows_a_cancel_by_another_server_finds_the_thread_as_the_run_left_it(server) {
        let other = server.beside().await;
        let spin = tool(&server, "spin", "while (true) {}").await;
        let agent = agent(&server, json!({ "tool_ids": [spin] })).await;
        for _ in 0..3 {
            let mut stream = Live::open(&server, &agent, &json!({ "input": "call spin" })).await;
            let run = stream.run().await;
            stream.until("tool_call_message").await;
            let cancelled = other.post(&path(&agent, "/cancel"), &json!({})).await;
            assert_eq!(cancelled.body, json!({ &run: "cancelled" }), "{cancelled:?}");
            assert_eq!(stop(&say(&other, &agent, "say hi").await), "end_turn");
            assert_eq!(stream.until("stop_reason").await["stop_reason"], "cancelled");
            agrees(&other, &agent).await;
        }
    }

    async fn a_cancelled_run_keeps_its_turn_until_its_own_server_has_ended_it(server) {
        let other = server.beside().await;
        let spin = tool(&server, "spin", "while (true) {}").await;
        let agent = agent(&server, json!({ "tool_ids": [spin] })).await;
        for round in 1..=4 {
            let mut first = Live::open(&server, &agent, &json!({ "input": "call spin" })).await;
            let working = first.run().await;
            first.until("tool_call_message").await;
            let mut second = Live::open(&other, &agent, &json!({ "input": "say hi" })).await;
            let waiting = second.run().await;
            let named = json!({ "run_ids": [&working] });
            let cancelled = other.post(&path(&agent, "/cancel"), &named).await;
            assert_eq!(cancelled.body, json!({ &working: "cancelled" }), "{cancelled:?}");
            assert_eq!(second.until("stop_reason").await["stop_reason"], "end_turn");
            assert_eq!(first.until("stop_reason").await["stop_reason"], "cancelled");
            for (run, status) in [(&working, "cancelled"), (&waiting, "completed")] {
                assert_eq!(ended(&server, run).await["status"], status);
            }
            // What the first did before is there, whole, and before what the second did.
            let history = history(&server, &agent).await;
            let runs: Vec<_> = runs(&history).into_iter().map(|(run, _)| run).collect();
            assert_eq!(runs[2 * round - 2..], [working, waiting], "{history}");
            agrees(&other, &agent).await;
        }
    }

    async fn messages_go_by_the_order_in_which_they_came_whichever_server_got_them(server) {
        let other = server.beside().await;
        let agent = agent(&server, json!({})).await;
        let mut first = Live::open(&server, &agent, &json!({ "input": "wait 3s\nsay hi" })).await;
        first.run().await;
        let mut sent = Vec::new();
        for to in [&server, &server, &other, &server, &server, &other, &server] {
            let body = json!({ "input": "say hi" });
            let answer = to.post(&path(&agent, "/async"), &body).await;
            sent.push(text(&answer.body["id"]).to_owned());
        }
        for run in &sent {
            assert_eq!(ended(&server, run).await["status"], "completed");
        }
        let history = history(&other, &agent).await;
        let runs: Vec<_> = runs(&history).into_iter().map(|(run, _)| run).collect();
        assert_eq!(runs[1..], sent, "{history}");
    }

    async fn a_message_waits_on_while_the_database_fails(server) {
        let other = server.beside().await;
        let agent = agent(&server, json!({})).await;
        let mut first = Live::open(&server, &agent, &json!({ "input": "wait 4s\nsay hi" })).await;
        first.run().await;
        let mut second = Live::open(&other, &agent, &json!({ "input": "say hi" })).await;
        second.run().await;
        server.database().script("ALTER TABLE runs RENAME TO runs_away").await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        server.database().script("ALTER TABLE runs_away RENAME TO runs").await;
        for stream in [&mut first, &mut second] {
            assert_eq!(stream.until("stop_reason").await["stop_reason"], "end_turn");
        }
        agrees(&server, &agent).await;
    }

    async fn a_conversation_that_is_busy_on_one_server_is_busy_on_all(server) {
        let other = server.beside().await;
        let agent = agent(&server, json!({})).await;
        let conversation = begun(&server, &agent).await;
        let messages = format!("{conversation}/messages");
        let body = json!({ "input": "wait 60s\nsay late" });
        let mut stream = Live::post(&server, &messages, &body).await;
        let run = stream.run().await;
        let said = json!({ "input": "say hi", "streaming": false });
        let refused = other.post(&messages, &said).await;
        assert_eq!((refused.status.as_u16(), &refused.body["run_id"]), (409, &json!(run)));
        let here = server.post(&messages, &said).await;
        assert_eq!((here.status, &here.body), (refused.status, &refused.body));
        // What was refused is no run.
        let runs = read(&server, &format!("/v1/runs/?agent_id={agent}")).await;
        assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
        let cancel = format!("{conversation}/cancel");
        let cancelled = other.post(&cancel, &Value::Null).await;
        assert_eq!(cancelled.body, json!({ &run: "cancelled" }), "{cancelled:?}");
        let taken = other.post(&messages, &said).await;
        assert_eq!((taken.status.as_u16(), stop(&taken.body)), (200, "end_turn"));
    }

    async fn of_two_messages_to_a_conversation_at_once_one_is_taken(server) {
        let other = server.beside().await;
        let agent = agent(&server, json!({})).await;
        let messages = format!("{}/messages", begun(&server, &agent).await);
        let body = json!({ "input": "wait 3s\nsay hi", "streaming": false });
        let (one, two) = at_once(&server, &other, &messages, &body).await;
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{one:?} {two:?}");
        let stored = read(&server, &format!("{messages}?order=asc")).await;
        let said = stored.as_array().unwrap().iter();
        let said = said.filter(|message| message["message_type"] == "user_message");
        assert_eq!(said.count(), 1, "{stored}");
        let runs = read(&server, &format!("/v1/runs/?agent_id={agent}")).await;
        assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    }

    async fn of_two_answers_to_one_request_for_approval_one_is_carried_out(server) {
        let other = server.beside().await;
        let waits = json!({ "default_requires_approval": true });
        let secret = tool_with(&server, "secret", "return 'the secret ' + a", waits).await;
        let agent = agent(&server, json!({ "tool_ids": [secret] })).await;
        let asked = say(&server, &agent, "call secret with {\"a\":\"x\"}\nthen\nsay Done.").await;
        let call = &asked["messages"][0]["tool_call"]["tool_call_id"];
        let approval = json!({ "type": "approval", "tool_call_id": call, "approve": true });
        let body = json!({ "messages": [{ "type": "approval", "approvals": [approval] }] });
        let (one, two) = at_once(&server, &other, &path(&agent, ""), &body).await;
        // The second is one that tries again: it goes on.
        assert_eq!((one.status.as_u16(), two.status.as_u16()), (200, 200), "{one:?} {two:?}");
        let history = history(&server, &agent).await.to_string();
        let results = history.matches("\"tool_return_message\"").count();
        assert_eq!(results, 1, "{history}");
        agrees(&server, &agent).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_clean_up_after_a_killed_server_costs_no_living_one_its_turn() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    // Runs count as abandoned, and turns as lost, after it.
    let silence = Duration::from_secs(2);
    let server = TestServer::start_with(|config| {
        config.database_url = Some(database.url().to_owned());
        config.run_silence = silence;
    });
    let server = server.await;
    let key = InstallationKey::load_or_create(&server.data_dir().join("installation.key"));
    let key = key.unwrap();
    let text_of_key = std::fs::read_to_string(server.data_dir().join("installation.key")).unwrap();
    let other = TestServer::start_with(|config| {
        config.database_url = Some(database.url().to_owned());
        config.run_silence = silence;
        config.key = Some(text_of_key.trim().to_owned());
    });
    let other = other.await;
    // A run that nobody works on, of an agent that nobody can put in order for now.
    let left = agent(&server, json!({})).await;
    let store = Store::open(database.url(), key).await.unwrap();
    let run = json!({ "id": bulkhead_domain::id::RunId::random(), "agent_id": left,
        "status": "running", "created_at": bulkhead_domain::Timestamp::now() });
    let run: Run = serde_json::from_value(run).unwrap();
    store.create_run(&run).await.unwrap();
    let mut lock = PgConnection::connect(database.url()).await.unwrap();
    let query = format!("BEGIN; SELECT 1 FROM agents WHERE id = '{left}' FOR UPDATE");
    lock.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(query)))
        .await
        .unwrap();
    let aged = format!("UPDATE runs SET alive_at = 0 WHERE id = '{}'", run.id);
    database.script(&aged).await;
    let waits = "SELECT COUNT(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()";
    while 2 > sqlx::query_scalar::<_, i64>(waits)
        .fetch_one(&mut lock)
        .await
        .unwrap()
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let agent = agent(&server, json!({})).await;
    let body = json!({ "input": "wait 6s\nsay hi" });
    let mut first = Live::open(&server, &agent, &body).await;
    let working = first.run().await;
    let mut second = Live::open(&other, &agent, &json!({ "input": "say hi" })).await;
    let next = second.run().await;
    for stream in [&mut first, &mut second] {
        assert_eq!(stream.until("stop_reason").await["stop_reason"], "end_turn");
    }
    let history = history(&server, &agent).await;
    let runs: Vec<_> = runs(&history).into_iter().map(|(run, _)| run).collect();
    assert_eq!(runs, [working, next], "{history}");
    lock.execute("ROLLBACK").await.unwrap();
    assert_eq!(
        ended(&server, &run.id.to_string()).await["status"],
        "failed"
    );
}
