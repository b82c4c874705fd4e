//! Lists: filters, pages in both directions, and counts.

use std::time::Duration;

use serde_json::{Value, json};

use super::{NOBODY, detail, javascript, on_both_databases, saved, saved_all, schema_of};
use crate::support::{Answer, TestServer};

fn names(answer: &Answer) -> Vec<&str> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let tools = answer.body.as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

async fn listed(server: &TestServer, query: &str) -> Vec<String> {
    let answer = server.get(&format!("/v1/tools/?{query}")).await;
    names(&answer).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn the_newest_is_first_unless_asked_otherwise() {
    for server in on_both_databases().await {
        saved_all(&server, &["a", "b", "c"]).await;
        assert_eq!(names(&server.get("/v1/tools").await), ["c", "b", "a"]);
        assert_eq!(
            listed(&server, "order=asc&order_by=created_at").await,
            ["a", "b", "c"]
        );
        // Saved again, it stays where it was.
        saved_all(&server, &["a"]).await;
        assert_eq!(listed(&server, "order=desc").await, ["c", "b", "a"]);
    }
}

#[tokio::test]
async fn pages_go_on_and_back_in_both_orders() {
    for server in on_both_databases().await {
        let all = ["a", "b", "c", "d", "e"];
        saved_all(&server, &all).await;
        for order in ["asc", "desc"] {
            let mut expected = all.to_vec();
            if order == "desc" {
                expected.reverse();
            }
            let (mut forth, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = server
                    .get(&format!("/v1/tools/?order={order}&limit=2{cursor}"))
                    .await;
                let Some(last) = page.body.as_array().unwrap().last() else {
                    break;
                };
                cursor = format!("&after={}", last["id"].as_str().unwrap());
                forth.extend(names(&page).into_iter().map(str::to_owned));
            }
            assert_eq!(forth, expected, "{order}");
            let (mut back, mut cursor) = (Vec::new(), cursor.replace("after", "before"));
            loop {
                let page = server
                    .get(&format!("/v1/tools/?order={order}&limit=2{cursor}"))
                    .await;
                let Some(first) = page.body.as_array().unwrap().first() else {
                    break;
                };
                cursor = format!("&before={}", first["id"].as_str().unwrap());
                let mut page: Vec<_> = names(&page).into_iter().map(str::to_owned).collect();
                page.append(&mut back);
                back = page;
            }
            // Everything before the last one, in the same order.
            assert_eq!(back, expected[..4], "{order}");
        }
    }
}

#[tokio::test]
async fn filters_narrow_lists_and_counts_alike() {
    for server in on_both_databases().await {
        let server = server.with_friendly().await;
        let ids = saved_all(&server, &["roll_dice", "Roll_Up", "unrelated"]).await;
        let everything = listed(&server, "limit=1000").await.len();
        for (query, expected) in [
            ("name=roll_dice".to_owned(), vec!["roll_dice"]),
            ("name=roll".to_owned(), vec![]),
            (
                "names=roll_dice&names=unrelated&names=none".to_owned(),
                vec!["unrelated", "roll_dice"],
            ),
            (
                format!("tool_ids={}&tool_ids={}", ids[1], ids[2]),
                vec!["unrelated", "Roll_Up"],
            ),
            (format!("tool_ids={NOBODY}"), vec![]),
            ("search=ROLL".to_owned(), vec!["Roll_Up", "roll_dice"]),
            ("search=l_d".to_owned(), vec!["roll_dice"]),
            ("search=%25".to_owned(), vec![]),
            ("tool_types=letta_core".to_owned(), vec![]),
            ("tool_types=no_such_type".to_owned(), vec![]),
            ("return_only_letta_tools=true".to_owned(), vec![]),
            ("exclude_tool_types=custom".to_owned(), vec![]),
            (
                "search=roll&name=roll_dice&tool_types=custom".to_owned(),
                vec!["roll_dice"],
            ),
        ] {
            assert_eq!(listed(&server, &query).await, expected, "{query}");
            let count = server.get(&format!("/v1/tools/count?{query}")).await;
            assert_eq!(count.body, json!(expected.len()), "{query}");
        }
        for query in [
            "tool_types=custom",
            "tool_types=custom&tool_types=letta_core",
            "exclude_letta_tools=true",
            "return_only_letta_tools=false",
            "exclude_tool_types=letta_core",
        ] {
            let count = server.get(&format!("/v1/tools/count/?{query}")).await;
            assert_eq!(count.body, json!(everything), "{query}");
        }
        assert_eq!(listed(&server, "limit=1").await.len(), 1);
        assert_eq!(
            server
                .get("/v1/tools/count?limit=1&after=nobody")
                .await
                .body,
            json!(everything)
        );
    }
}

#[tokio::test]
async fn components_tools_stand_in_the_same_list_with_their_kind() {
    for server in on_both_databases().await {
        let server = server.with_friendly().await;
        saved_all(&server, &["mine"]).await;
        let listed = server.get("/v1/tools/?name=add").await;
        assert_eq!(names(&listed), ["add"]);
        let add: &Value = &listed.body[0];
        assert_eq!(
            add["metadata_"]["component"],
            json!({ "name": "friendly", "tool": "add" })
        );
        assert_eq!(add["metadata_"]["kind"], "native");
        assert_eq!(add["json_schema"]["name"], "add");
        assert!(
            add["json_schema"]["parameters"]["properties"]["left"].is_object(),
            "{add}"
        );
        let path = format!("/v1/tools/{}", add["id"].as_str().unwrap());
        assert_eq!(server.get(&path).await.body, *add);
        // It comes and goes with its component.
        let (status, text) = (
            &server.delete(&path).await,
            "DELETE /v1/components/friendly",
        );
        assert!(
            detail(status).0 == 400 && detail(status).1.contains(text),
            "{status:?}"
        );
        let patched = server.patch(&path, &json!({ "source_code": "x" })).await;
        assert!(
            detail(&patched).0 == 400 && detail(&patched).1.contains("does not come from source"),
            "{patched:?}"
        );
        let stolen = server.post("/v1/tools/", &javascript("add")).await;
        assert!(
            detail(&stolen).0 == 400 && detail(&stolen).1.contains("component friendly"),
            "{stolen:?}"
        );
        let deleted = server.delete("/v1/components/friendly").await;
        assert_eq!(deleted.status, 200, "{deleted:?}");
        assert_eq!(names(&server.get("/v1/tools").await), ["mine"]);
    }
}

#[tokio::test]
async fn what_no_page_is_is_refused_by_name() {
    let server = TestServer::start().await;
    saved(&server, &javascript("one")).await;
    for (query, expected) in [
        (
            "limit=x",
            "[{'type': 'int_parsing', 'loc': ('query', 'limit'), 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'x'}]",
        ),
        (
            "limit=-1",
            "[{'type': 'greater_than_equal', 'loc': ('query', 'limit'), 'msg': 'Input should be greater than or equal to 0', 'input': '-1', 'ctx': {'ge': 0}}]",
        ),
        (
            "order=up",
            "[{'type': 'literal_error', 'loc': ('query', 'order'), 'msg': \"Input should be 'asc' or 'desc'\", 'input': 'up', 'ctx': {'expected': \"'asc' or 'desc'\"}}]",
        ),
        (
            "order_by=name",
            "[{'type': 'literal_error', 'loc': ('query', 'order_by'), 'msg': \"Input should be 'created_at'\", 'input': 'name', 'ctx': {'expected': \"'created_at'\"}}]",
        ),
        (
            "exclude_letta_tools=perhaps",
            "[{'type': 'bool_parsing', 'loc': ('query', 'exclude_letta_tools'), 'msg': 'Input should be a valid boolean, unable to interpret input', 'input': 'perhaps'}]",
        ),
    ] {
        let refused = server.get(&format!("/v1/tools/?{query}")).await;
        assert_eq!(detail(&refused), (422, expected));
        assert_eq!(refused.body["trace_id"], "");
    }
    for (cursor, id) in [("after", NOBODY), ("before", NOBODY), ("after", "nonsense")] {
        let refused = server.get(&format!("/v1/tools/?{cursor}={id}")).await;
        let (status, text) = detail(&refused);
        assert!(status == 404 && text.contains(id), "{refused:?}");
    }
    assert_eq!(listed(&server, "limit=100000").await, ["one"]);
    assert!(listed(&server, "limit=0").await.is_empty());
    let many: String = (0..1_001).map(|n| format!("names=n{n}&")).collect();
    let refused = server.get(&format!("/v1/tools/?{many}")).await;
    assert!(refused.status.is_client_error(), "{refused:?}");
}

#[tokio::test]
async fn search_by_meaning_says_what_it_needs() {
    let server = TestServer::start().await;
    let refused = server
        .post("/v1/tools/search", &json!({ "query": "dice" }))
        .await;
    let expected = "Tool search requires tool embedding, OpenAI, and Turbopuffer to be enabled.";
    assert_eq!(detail(&refused), (400, expected));
}

#[tokio::test]
async fn what_comes_with_the_server_has_a_type_of_its_own_and_keeps_its_name_and_source() {
    let server = TestServer::start_with(|config| config.builtin_tools = true).await;
    // Listed after the start, which does not wait for it.
    let listing = async {
        loop {
            let listed = server.get("/v1/tools/?name=run_code").await;
            if let Some(code) = listed.body.as_array().unwrap().first() {
                return code.clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let code = tokio::time::timeout(Duration::from_secs(60), listing);
    let code = code.await.expect("run_code is listed");
    assert_eq!(
        (&code["tool_type"], &code["tags"]),
        (&json!("letta_builtin"), &json!(["letta_builtin"]))
    );
    assert_eq!(code["source_code"], "");
    saved_all(&server, &["mine"]).await;
    let own = listed(&server, "return_only_letta_tools=true").await;
    assert!(
        own.contains(&"run_code".to_owned()) && !own.contains(&"mine".to_owned()),
        "{own:?}"
    );
    assert_eq!(
        listed(&server, "tool_types=letta_builtin&name=run_code").await,
        ["run_code"]
    );
    let others = server.get("/v1/tools/count?exclude_letta_tools=true").await;
    assert_eq!(others.body, 1);
    let path = format!("/v1/tools/{}", code["id"].as_str().unwrap());
    let source = "function run_code(code, language) { return code }";
    for change in [
        json!({ "source_code": source }),
        json!({ "json_schema": schema_of("other") }),
    ] {
        let refused = server.patch(&path, &change).await;
        assert!(
            detail(&refused).0 == 400 && detail(&refused).1.contains("comes with the server"),
            "{refused:?}"
        );
    }
    let stolen = server.post("/v1/tools/", &javascript("run_code")).await;
    assert!(
        detail(&stolen).0 == 400
            && detail(&stolen)
                .1
                .contains("belongs to a tool of the server"),
        "{stolen:?}"
    );
    assert_eq!(server.get(&path).await.body, code);
}
