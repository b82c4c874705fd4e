//! What must hold of a thread whenever a server that worked on it was killed.

use std::collections::{HashMap, HashSet};

use bulkhead_domain::{
    Message, RunStatus, StepStatus, ToolStatus,
    id::{RunId, StepId},
};
use bulkhead_store::{MessageFilter, StateNamespace, Store, ThreadFilter};

use crate::{
    journal::{Entry, Told},
    world::Agent,
};

/// The namespace in which the fixture counts.
const COUNTER: &str = "friendly/counter";
/// More messages than a thread ever has here.
const ALL: u32 = 1_000;

/// Checks a thread against itself, against its steps and runs, and against what clients were told.
pub(crate) async fn check(store: &Store, agent: &Agent, entries: &[Entry]) {
    let conversation = agent.conversation.as_ref();
    let disagreements = store.verify_thread(&agent.id, conversation).await.unwrap();
    assert!(disagreements.is_empty(), "{agent:?}: {disagreements:?}");

    let filter = MessageFilter {
        agent_id: Some(agent.id),
        thread: ThreadFilter::of(agent.conversation),
        limit: Some(ALL),
        ..MessageFilter::default()
    };
    let messages = store.messages(&filter).await.unwrap();
    assert!(messages.len() < ALL as usize);
    let stored: Vec<_> = messages.iter().map(|message| message.id).collect();
    let in_context = match conversation {
        None => store.agent(&agent.id).await.unwrap().unwrap().message_ids,
        Some(id) => {
            let found = store.conversation(id).await.unwrap().unwrap();
            found.in_context_message_ids
        }
    };
    assert_eq!(stored, in_context, "{agent:?}");

    steps(store, &messages).await;
    for entry in entries {
        effects(store, agent, &messages, entry).await;
        answers(store, &messages, entry).await;
    }
}

/// Each message stands in a step that is whole, of the same run, and each result has its receipt.
async fn steps(store: &Store, messages: &[Message]) {
    let mut runs: HashMap<StepId, HashSet<Option<RunId>>> = HashMap::new();
    for message in messages {
        if let Some(step) = message.step_id {
            runs.entry(step).or_default().insert(message.run_id);
        }
        for returned in &message.tool_returns {
            let Some(id) = returned.receipt_id else {
                assert_eq!(returned.status, ToolStatus::Error, "{returned:?}");
                continue;
            };
            let receipt = store.receipt(&id).await.unwrap();
            assert!(receipt.is_some(), "{returned:?} without its receipt");
        }
    }
    for (id, runs) in runs {
        let step = store.step(&id).await.unwrap();
        let step = step.unwrap_or_else(|| panic!("{id} has messages and is not there"));
        let is_whole = matches!(step.status, StepStatus::Success | StepStatus::Cancelled);
        assert!(is_whole, "{step:?}");
        assert!(runs.contains(&step.run_id), "{step:?}: {runs:?}");
    }
}

/// A tool did at most once what it was called for once, and did it where its result says so.
async fn effects(store: &Store, agent: &Agent, messages: &[Message], entry: &Entry) {
    let returns = messages.iter().flat_map(|message| &message.tool_returns);
    let calls: HashMap<_, _> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| (call.id.as_str(), call.arguments.as_str()))
        .collect();
    let of = |text: &str| {
        let text = format!("\"{text}\"");
        let mut returns = returns.clone();
        returns.find(|returned| {
            let arguments = calls.get(returned.tool_call_id.as_str());
            arguments.is_some_and(|arguments| arguments.contains(&text))
        })
    };
    let agent_id = agent.id.to_string();
    let space = StateNamespace::new(COUNTER, Some(&agent_id));
    for counter in &entry.counters {
        let state = store.state_get(&space, counter).await.unwrap();
        let state = state.map(|state| String::from_utf8(state.value).unwrap());
        let count: u32 = state.map_or(0, |count| count.parse().unwrap());
        let returned = of(counter);
        let succeeded = returned.is_some_and(|one| one.status == ToolStatus::Success);
        assert!(count <= 1, "{counter} was counted {count} times");
        assert!(!succeeded || count == 1, "{counter}: {count}, {returned:?}");
        let is_denied =
            returned.is_some_and(|one| one.text.contains("request to call tool denied"));
        assert!(!is_denied || count == 0, "{counter} was denied and counted");
    }
    if entry.remembers {
        let block = store.block_of_agent(&agent.id, "human").await.unwrap();
        let value = block.unwrap().value;
        let lines = value.lines().filter(|line| *line == entry.token).count();
        let returned = of(&entry.token);
        let succeeded = returned.is_some_and(|one| one.status == ToolStatus::Success);
        assert!(lines <= 1, "{} was written {lines} times", entry.token);
        assert!(!succeeded || lines == 1, "{}: {returned:?}", entry.token);
    }
}

/// What a client was told is there.
async fn answers(store: &Store, messages: &[Message], entry: &Entry) {
    let mut told = entry.told;
    if let Some(run) = &entry.run {
        let run = store.run(&run.parse().unwrap()).await.unwrap();
        let run = run.unwrap_or_else(|| panic!("a client knows {entry:?}"));
        if run.status == RunStatus::Completed
            && run.stop_reason == Some(bulkhead_domain::StopReason::EndTurn)
        {
            told = Told::Everything;
        }
    }
    let has = |text: &str| {
        messages
            .iter()
            .filter(|message| message.plain_text().contains(text))
            .count()
    };
    if told >= Told::Asked {
        let input = has(&format!("say done {}", entry.token));
        assert_eq!(input, 1, "the input of {entry:?}");
    }
    if told == Told::Everything {
        // The input quotes it.
        let answer = has(&format!("done {}", entry.token));
        assert_eq!(answer, 2, "the answer of {entry:?}");
    }
}
