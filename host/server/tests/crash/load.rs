//! What clients do to a server while it lives.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    journal::{Entry, Journal, Number, Told},
    program::{Client, Program},
    random::Random,
    talk::{self, Heard},
    world::{Agent, Kind, World},
};

/// A client whose server is gone notices by then.
const GONE: Duration = Duration::from_secs(40);

/// Clients that talk to a server until it is gone.
pub(crate) struct Clients(JoinSet<()>);

impl Clients {
    /// Waits until all have noticed.
    pub(crate) async fn end(mut self) {
        let all = async {
            while let Some(ended) = self.0.join_next().await {
                ended.unwrap();
            }
        };
        let all = tokio::time::timeout(GONE, all).await;
        all.expect("a client notices that its server is gone");
    }
}

/// One client for each agent, and a second one for the first agent, whose requests take turns.
pub(crate) fn begin(
    program: &Program,
    world: &World,
    journal: &Journal,
    random: &mut Random,
) -> Clients {
    let mut clients = JoinSet::new();
    let agents = world.agents.iter().enumerate();
    for (number, agent) in agents.chain([(0, &world.agents[0])]) {
        let mut person = Person {
            client: program.client(),
            number,
            agent: agent.clone(),
            journal: journal.clone(),
            random: random.split(),
        };
        clients.spawn(async move { while person.does_something().await {} });
    }
    Clients(clients)
}

/// Somebody who talks to an agent.
pub(crate) struct Person {
    pub(crate) client: Client,
    /// Which of the world's agents.
    pub(crate) number: usize,
    pub(crate) agent: Agent,
    pub(crate) journal: Journal,
    pub(crate) random: Random,
}

impl Person {
    /// One request; false where the server is gone.
    async fn does_something(&mut self) -> bool {
        if self.agent.kind == Kind::Asks
            && let Some(request) = self.pending().await
        {
            return self.decides(&request).await;
        }
        match self.random.below(12) {
            0 => self.cancels().await,
            _ => self.says_something().await,
        }
    }

    async fn cancels(&self) -> bool {
        let asked = talk::post(&self.client, &self.agent.cancel(), &json!({})).await;
        asked.expect(&[200, 409])
    }

    async fn says_something(&mut self) -> bool {
        let (number, input) = self.request();
        let (path, body) = self.way(&input);
        let heard = talk::post(&self.client, &path, &body).await;
        // Another request of the same conversation, or an approval that is open by now.
        let is_there = heard.expect(&[200, 409]);
        let has_run = body["background"] == true || path.ends_with("/async");
        if let Some(run) = heard.run().filter(|_| has_run) {
            self.journal.began(number, run);
        }
        self.is_told(number, &heard);
        is_there
    }

    fn is_told(&self, number: Number, heard: &Heard) {
        if heard.is_everything() {
            self.journal.told(number, Told::Everything);
        } else if heard.stopped_for("requires_approval") {
            self.journal.told(number, Told::Asked);
        }
    }

    /// Something for the agent to do, noted before it is sent.
    fn request(&mut self) -> (Number, String) {
        let token = self.journal.token();
        let remembers = self.agent.kind == Kind::Remembers;
        let count = |name: &str| format!("call counter with {{\"name\":\"{token}-{name}\"}}");
        let (names, work) = match self.random.below(3) {
            _ if remembers => {
                let insert = json!({ "label": "human", "new_string": token });
                (&[][..], format!("call memory_insert with {insert}"))
            }
            0 => (&["a"][..], count("a")),
            1 => (&["a", "b"][..], format!("{}\n{}", count("a"), count("b"))),
            _ => (
                &["a", "b"][..],
                format!("{}\nthen\n{}", count("a"), count("b")),
            ),
        };
        let wait = self.random.below(12);
        let number = self.journal.note(Entry {
            agent: self.number,
            counters: names.iter().map(|name| format!("{token}-{name}")).collect(),
            remembers,
            told: Told::Nothing,
            run: None,
            token: token.clone(),
        });
        let input = format!("wait {wait}ms\n{work}\nthen\npause 1ms\nsay done {token}");
        (number, input)
    }

    /// One of the ways to send something: path and body.
    fn way(&mut self, input: &str) -> (String, Value) {
        let messages = self.agent.messages();
        let mut body = json!({ "input": input });
        let way = self.random.below(5);
        let is_stream = way != 0;
        if self.agent.conversation.is_some() {
            body["streaming"] = json!(is_stream);
        } else if way == 4 {
            return (format!("{messages}/async"), body);
        }
        if is_stream {
            body["stream_tokens"] = json!(way >= 2);
            body["background"] = json!(way >= 3);
        }
        match is_stream && self.agent.conversation.is_none() {
            true => (format!("{messages}/stream"), body),
            false => (messages, body),
        }
    }

    /// The request for approval that is open, if one is and the server is there.
    pub(crate) async fn pending(&self) -> Option<Value> {
        let path = format!(
            "/v1/agents/{}?include=agent.pending_approval",
            self.agent.id
        );
        let request = self.client.request(reqwest::Method::GET, &path);
        let answer = request.send().await.ok()?;
        let agent: Value = answer.json().await.ok()?;
        let request = agent["pending_approval"].clone();
        (!request.is_null()).then_some(request)
    }

    /// Approves, denies or cancels.
    pub(crate) async fn decides(&mut self, request: &Value) -> bool {
        let choice = self.random.below(6);
        if choice == 0 {
            return self.cancels().await;
        }
        let calls = request["tool_calls"].as_array().unwrap();
        let approvals: Vec<Value> = calls
            .iter()
            .map(|call| {
                json!({
                    "type": "approval", "tool_call_id": call["tool_call_id"],
                    "approve": choice > 1,
                })
            })
            .collect();
        let body = json!({ "messages": [{ "type": "approval", "approvals": approvals }] });
        let heard = talk::post(&self.client, &self.agent.messages(), &body).await;
        // It may have been answered by a request whose answer nobody heard.
        let is_there = heard.expect(&[200, 400, 409]);
        if let Some(number) = self.journal.find(&request.to_string()) {
            self.is_told(number, &heard);
        }
        is_there
    }
}
