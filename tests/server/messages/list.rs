//! Stored messages, in lists.

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use super::{agent, kinds, path, say, text};
use crate::support::TestServer;

fn contents(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter()
        .filter(|message| message["message_type"] == "user_message")
        .map(|message| text(&message["content"]))
        .collect()
}

#[tokio::test]
async fn a_list_is_a_window_whose_messages_are_in_order() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let Some(server) = TestServer::start_kind(kind).await else {
            continue;
        };
        let agent = agent(&server, json!({})).await;
        for input in ["say 1", "say 2", "say 3"] {
            say(&server, &agent, input).await;
        }
        let get = async |query: &str| server.get(&path(&agent, query)).await.body;
        assert_eq!(contents(&get("").await), ["say 1", "say 2", "say 3"]);
        assert_eq!(contents(&get("?limit=4").await), ["say 2", "say 3"]);
        assert_eq!(
            contents(&get("?limit=4&order=asc").await),
            ["say 1", "say 2"]
        );
        let newest = get("?limit=2").await;
        let before = format!("?before={}&limit=2", text(&newest[0]["id"]));
        assert_eq!(contents(&get(&before).await), ["say 2"]);
        let after = format!("?after={}&order=asc", text(&newest[0]["id"]));
        assert_eq!(kinds(&get(&after).await), ["assistant_message"]);
        let few = get("?include_return_message_types=user_message").await;
        assert_eq!(kinds(&few), ["user_message"; 3]);
        assert_eq!(
            get("?conversation_id=default")
                .await
                .as_array()
                .unwrap()
                .len(),
            7
        );
        // A page of a group's messages is as long as one of all.
        for (input, group) in [
            ("say 4", "group-1"),
            ("say 5", "group-1"),
            ("say 6", "group-2"),
        ] {
            let message = json!({ "role": "user", "content": input, "group_id": group });
            let body = json!({ "messages": [message] });
            let sent = server.post(&path(&agent, ""), &body).await;
            assert_eq!(sent.status, 200, "{sent:?}");
        }
        let lists = [
            path(&agent, "?"),
            "/v1/messages/?".to_owned(),
            format!("/v1/conversations/{agent}/messages?"),
        ];
        for list in lists {
            for (query, expected) in [
                ("group_id=group-1", &["say 4", "say 5"][..]),
                ("group_id=group-1&limit=1&order=asc", &["say 4"]),
                ("group_id=group-2&limit=1", &["say 6"]),
                ("group_id=group-3", &[]),
            ] {
                let listed = server.get(&format!("{list}{query}")).await.body;
                let mut found = contents(&listed);
                found.sort_unstable();
                assert_eq!(found, expected, "{list}{query}");
            }
        }
        let one = text(&newest[1]["id"]).to_owned();
        let alone = server.get(&format!("/v1/messages/{one}")).await.body;
        assert_eq!(alone, json!([newest[1]]));
        let unknown = "message-00000000-0000-4000-8000-000000000000";
        let refused = server
            .get(&path(&agent, &format!("?after={unknown}")))
            .await;
        let expected = format!("No message found with id '{unknown}' for agent '{agent}'.");
        assert_eq!(super::detail(&refused), (404, expected.as_str()));
    }
}
