//! What must hold after each start, and at the end.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    journal::{Journal, Told},
    load::Person,
    program::{Client, Program},
    random::Random,
    streams, talk, threads,
    world::{Agent, Kind, World},
};

/// An agent takes a message by then, on a machine that does other things too.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Runs of one list.
const RUNS: u32 = 100;

/// What was seen so far.
#[derive(Default)]
pub(crate) struct Checks {
    /// Runs in the background of all lives.
    runs: BTreeSet<String>,
    /// Requests of all lives whose whole answer a client has.
    answered: BTreeSet<String>,
}

impl Checks {
    /// Checks a server that has just been started after another one was killed.
    pub(crate) async fn after_start(
        &mut self,
        program: &Program,
        world: &World,
        journal: &Journal,
        random: &mut Random,
    ) {
        let client = program.client();
        if !program.is_shared() {
            have_ended(&client).await;
        }
        let store = program.store().await;
        for (number, agent) in world.agents.iter().enumerate() {
            let entries = journal.of(number);
            threads::check(&store, agent, &entries).await;
            let runs = entries.iter().filter_map(|entry| entry.run.clone());
            self.runs.extend(runs);
            let answered = entries
                .into_iter()
                .filter(|entry| entry.told == Told::Everything);
            self.answered.extend(answered.map(|entry| entry.token));
        }
        store.close().await;
        for (number, agent) in world.agents.iter().enumerate() {
            if !program.is_shared() && agent.kind == Kind::Remembers {
                sees_its_memory(&client, agent).await;
            }
            let mut person = Person {
                client: program.client(),
                number,
                agent: agent.clone(),
                journal: journal.clone(),
                random: random.split(),
            };
            goes_on(&mut person).await;
        }
    }

    /// Checks what time has told: nothing goes on any more.
    pub(crate) async fn at_the_end(&self, program: &Program, lives: usize) {
        let client = program.client();
        have_ended(&client).await;
        let (runs, answered) = (self.runs.len(), self.answered.len());
        eprintln!("{lives} lives, {runs} runs in the background, {answered} whole answers");
        // With less nothing would be shown.
        assert!(runs > 0 && answered > 0);
        for run in &self.runs {
            streams::check(&client, run).await;
        }
    }
}

/// No run goes on; those that failed say why.
async fn have_ended(client: &Client) {
    let active = client.get("/v1/runs/active").await;
    assert_eq!(active, json!([]));
    let failed = format!("/v1/runs/?statuses=failed&limit={RUNS}");
    for run in client.get(&failed).await.as_array().unwrap() {
        assert_eq!(run["stop_reason"], "error", "{run}");
        assert!(run["completed_at"].is_string(), "{run}");
        let error = &run["metadata"]["error"];
        let text = error["detail"].as_str().or(error.as_str());
        let text = text.unwrap_or_else(|| panic!("it does not say why: {run}"));
        let is_abandoned = text.contains("server that worked on this run ended");
        assert!(is_abandoned || talk::is_refusal(text), "{run}");
    }
}

/// What tools wrote into the memory is in the prompt.
async fn sees_its_memory(client: &Client, agent: &Agent) {
    let path = format!("/v1/agents/{}", agent.id);
    let block = client
        .get(&format!("{path}/core-memory/blocks/human"))
        .await;
    let system = format!("{path}/messages?order=asc&limit=1");
    let system = client.get(&system).await[0]["content"].to_string();
    for line in block["value"].as_str().unwrap().lines() {
        assert!(system.contains(line), "{line} is not in {system}");
    }
}

/// An agent takes the next message at once, or the answer to what it asked.
async fn goes_on(person: &mut Person) {
    let begun = Instant::now();
    while let Some(request) = person.pending().await {
        assert!(person.decides(&request).await);
        assert!(begun.elapsed() < AT_ONCE, "{request} stays open");
    }
    let body = json!({ "input": "say Fine.", "streaming": false });
    let heard = talk::post(&person.client, &person.agent.messages(), &body).await;
    assert_eq!(heard.status, Some(200), "{}", heard.text);
    let answer: Value = serde_json::from_str(&heard.text).unwrap();
    assert_eq!(answer["stop_reason"]["stop_reason"], "end_turn", "{answer}");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
}
