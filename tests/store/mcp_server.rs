use std::collections::BTreeMap;

use bulkhead_domain::id::McpServerId;
use bulkhead_store::{
    McpSecrets, McpServerRecord, McpTransport, NewMcpServer, NewMcpTool, NewTool, Store,
    StoreError, SyncedTools, ToolType,
};
use serde_json::json;

use super::raw;

const TOKEN: &str = "very-secret-token";

fn secrets() -> McpSecrets {
    let header = ("X-Key".to_owned(), "other-secret".to_owned().into());
    McpSecrets {
        token: Some(TOKEN.to_owned().into()),
        headers: BTreeMap::from([header]),
    }
}

fn new(name: &str) -> NewMcpServer {
    NewMcpServer {
        name: name.to_owned(),
        transport: McpTransport::StreamableHttp,
        url: "https://mcp.example.com/mcp".to_owned(),
        auth_header: None,
        secrets: secrets(),
        user_id: Some("user-1".to_owned()),
    }
}

fn tool(remote: &str, description: &str) -> NewMcpTool {
    let mut tool = NewTool::new(remote, ToolType::ExternalMcp);
    tool.description = Some(description.to_owned());
    tool.json_schema = Some(json!({ "name": "", "description": description }));
    NewMcpTool {
        remote: remote.to_owned(),
        full_name: format!("server__{remote}"),
        tool,
    }
}

async fn rename(store: &Store, server: &McpServerRecord, name: &str) -> Result<(), StoreError> {
    let renamed = store.update_mcp_server(&server.id, |server, _| {
        server.name = name.to_owned();
        Ok::<_, StoreError>(())
    });
    renamed.await.map(drop)
}

/// A server with one tool, `look`.
pub(crate) async fn mcp_server(store: &Store) -> McpServerId {
    let server = store.create_mcp_server(new("its")).await.unwrap();
    put(store, &server, vec![tool("look", "one")])
        .await
        .unwrap();
    server.id
}

/// Stores what a server lists that is as it was read.
async fn put(
    store: &Store,
    server: &McpServerRecord,
    tools: Vec<NewMcpTool>,
) -> Result<SyncedTools, StoreError> {
    let as_of = server.updated_at;
    store.put_mcp_tools(&server.id, as_of, tools).await
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).into()
}

on_both! {
    async fn a_server_reads_back_and_its_secrets_only_on_purpose(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        assert_eq!(store.mcp_server(&server.id).await.unwrap().as_ref(), Some(&server));
        assert_eq!(store.mcp_server_by_name("mine").await.unwrap().as_ref(), Some(&server));
        let revealed = store.mcp_secrets(&server.id).await.unwrap().unwrap();
        assert!(revealed == (server.clone(), secrets()));
        let printed = format!("{:?} {server:?}", new("mine"));
        assert!(!printed.contains(TOKEN) && !printed.contains("other-secret"), "{printed}");
        let plain = "SELECT COUNT(*) FROM mcp_servers WHERE CAST(sealed AS TEXT) LIKE '%secret%'";
        assert_eq!(raw::number(&database, plain).await, 0);

        let changed = store.update_mcp_server(&server.id, |server, secrets| {
            server.transport = McpTransport::Sse;
            secrets.token = None;
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.unwrap();
        assert_eq!((changed.transport, changed.id), (McpTransport::Sse, server.id));
        let (_, kept) = store.mcp_secrets(&server.id).await.unwrap().unwrap();
        assert!(kept.token.is_none() && kept.headers == secrets().headers);

        assert!(store.delete_mcp_server(&server.id).await.unwrap());
        assert!(!store.delete_mcp_server(&server.id).await.unwrap());
        assert!(store.mcp_secrets(&server.id).await.unwrap().is_none());
    }

    async fn a_token_is_not_sent_where_another_hand_points_it(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        database.script("UPDATE mcp_servers SET url = 'https://evil.example'").await;
        let error = store.mcp_secrets(&server.id).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        let error = rename(&store, &server, "yours").await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "nor sealed anew: {error:?}");
    }

    async fn servers_have_a_name_each_and_are_listed_as_they_came(database) {
        let store = database.open().await;
        let mut all = Vec::new();
        for name in ["b", "a"] {
            all.push(store.create_mcp_server(new(name)).await.unwrap());
        }
        assert_eq!(store.mcp_servers().await.unwrap(), all);
        let taken = |error: StoreError| matches!(error, StoreError::NameTaken { .. });
        assert!(taken(store.create_mcp_server(new("a")).await.unwrap_err()));
        assert!(taken(rename(&store, &all[0], "a").await.unwrap_err()));
        rename(&store, &all[0], "b").await.unwrap();
    }

    async fn tools_of_a_server_are_added_changed_and_deleted(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        store.upsert_tool(NewTool::new("b", ToolType::Custom)).await.unwrap();
        let listed = vec![tool("a", "one"), tool("b", "one"), tool("c", "one")];
        let synced = put(&store, &server, listed).await.unwrap();
        assert_eq!(synced.added, ["a", "server__b", "c"]);
        let b = store.mcp_tool(&server.id, "b").await.unwrap().unwrap();
        assert_eq!(b.name, "server__b");
        assert_eq!(b.json_schema.as_ref().unwrap()["name"], "server__b");
        assert_eq!(b.tags, ["mcp:mine"]);
        assert_eq!(b.mcp.as_ref().unwrap().server_id, server.id);

        let set = store.update_tool(&b.id, |tool| {
            tool.return_char_limit = 9;
            tool.default_requires_approval = Some(true);
            tool.mcp = None;
            tool.tags.push("own".to_owned());
            Ok::<_, StoreError>(())
        });
        assert!(set.await.unwrap().mcp.is_some(), "that it is the server's can't be changed");
        let listed = vec![tool("b", "two"), tool("c", "one"), tool("d", "one")];
        let synced = put(&store, &server, listed).await.unwrap();
        let expected = SyncedTools {
            added: texts(["d"]),
            updated: texts(["server__b"]),
            deleted: texts(["a"]),
        };
        assert_eq!(synced, expected);
        let now = store.tool(&b.id).await.unwrap().unwrap();
        assert_eq!(now.description.as_deref(), Some("two"));
        assert_eq!((now.return_char_limit, now.default_requires_approval), (9, Some(true)));
        assert_eq!((now.tags, now.created_at), (texts(["mcp:mine", "own"]), b.created_at));

        rename(&store, &server, "yours").await.unwrap();
        let now = store.tool(&b.id).await.unwrap().unwrap();
        assert_eq!(now.tags, texts(["mcp:yours", "own"]));
        assert_eq!(now.metadata.unwrap()["mcp"]["server_name"], "yours");

        store.delete_mcp_server(&server.id).await.unwrap();
        assert!(store.tool(&b.id).await.unwrap().is_none());
        assert!(store.tool_by_name("b").await.unwrap().is_some());
        let gone = put(&store, &server, vec![tool("a", "one")]).await;
        assert!(matches!(gone, Err(StoreError::NotFound { .. })));
    }

    async fn lists_of_tools_that_can_not_be_are_refused_and_change_nothing(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        put(&store, &server, vec![tool("kept", "one")]).await.unwrap();
        let mut nameless = tool("a", "one");
        nameless.full_name = "ä".to_owned();
        let many = (0..1_001).map(|at| tool(&format!("t{at}"), "one")).collect();
        for list in [vec![tool("a", "one"), tool("a", "two")], vec![nameless], many] {
            assert!(put(&store, &server, list).await.is_err());
        }
        let tools = store.mcp_tools(&server.id).await.unwrap();
        assert_eq!(tools.len(), 1);
    }

    async fn a_tool_that_is_left_out_once_comes_back_with_its_approval(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        let both = || vec![tool("asks", "one"), tool("free", "one")];
        put(&store, &server, both()).await.unwrap();
        let asks = store.mcp_tool(&server.id, "asks").await.unwrap().unwrap();
        let set = store.update_tool(&asks.id, |tool| {
            tool.default_requires_approval = Some(true);
            Ok::<_, StoreError>(())
        });
        set.await.unwrap();
        // Also where it stays away for longer.
        put(&store, &server, vec![tool("free", "one")]).await.unwrap();
        put(&store, &server, Vec::new()).await.unwrap();
        assert!(store.mcp_tool(&server.id, "asks").await.unwrap().is_none());
        put(&store, &server, both()).await.unwrap();
        let approvals = async |name: &str| {
            let tool = store.mcp_tool(&server.id, name).await.unwrap().unwrap();
            tool.default_requires_approval
        };
        assert_eq!((approvals("asks").await, approvals("free").await), (Some(true), None));
        // What a person takes away is gone for good.
        let asks = store.mcp_tool(&server.id, "asks").await.unwrap().unwrap();
        let set = store.update_tool(&asks.id, |tool| {
            tool.default_requires_approval = Some(false);
            Ok::<_, StoreError>(())
        });
        set.await.unwrap();
        put(&store, &server, Vec::new()).await.unwrap();
        put(&store, &server, both()).await.unwrap();
        assert_eq!(approvals("asks").await, None);
    }

    async fn what_a_server_listed_before_it_was_changed_is_not_stored(database) {
        let store = database.open().await;
        let server = store.create_mcp_server(new("mine")).await.unwrap();
        put(&store, &server, vec![tool("kept", "one")]).await.unwrap();
        rename(&store, &server, "yours").await.unwrap();
        let late = put(&store, &server, vec![tool("other", "one")]).await.unwrap_err();
        assert!(matches!(late, StoreError::Changed { .. }), "{late:?}");
        let tools = store.mcp_tools(&server.id).await.unwrap();
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0].name, "kept");
    }
}
