//! Older paths to agents and blocks, as their own consoles ask.

use serde_json::{Value, json};

use crate::{
    clients::{agent, detail, each, made, patched, read, text},
    support::TestServer,
};

#[tokio::test]
async fn agents_and_blocks_are_reached_by_their_older_paths_too() {
    let server = TestServer::start().await;
    let more = json!({ "memory_blocks": [{ "label": "human", "value": "Bob" }] });
    let ada = agent(&server, more).await;
    agent(&server, json!({ "hidden": true })).await;
    for (query, expected) in [("", 1), ("?exclude_hidden=false", 2)] {
        let count = read(&server, &format!("/v1/_internal_agents/count{query}")).await;
        assert_eq!(count, expected, "{query}");
    }
    let own = format!("/v1/_internal_agents/{ada}/core-memory/blocks/human");
    let changed = patched(&server, &own, &json!({ "value": "Eve" })).await;
    assert_eq!(changed["value"], "Eve");
    let block = json!({ "label": "notes", "value": "none" });
    let notes = made(&server, "/v1/_internal_blocks/", &block).await;
    let list = read(&server, "/v1/_internal_blocks/?order=desc").await;
    assert_eq!(each(&list, "label"), ["notes", "human"]);
    let connected = "/v1/_internal_blocks?connected_to_agents_count_gt=0";
    assert_eq!(each(&read(&server, connected).await, "value"), ["Eve"]);
    let human = format!("/v1/_internal_blocks/{}", text(&changed["id"]));
    let agents = read(&server, &format!("{human}/agents")).await;
    assert_eq!(each(&agents, "id"), [ada]);
    let deleted = server
        .delete(&format!("/v1/_internal_blocks/{}", text(&notes["id"])))
        .await;
    assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
    let gone = server
        .get(&format!("/v1/blocks/{}", text(&notes["id"])))
        .await;
    assert_eq!(detail(&gone).0, 404);
}
