use bulkhead_domain::{Approval, Digest, Message, Role, ToolStatus};
use bulkhead_store::{
    ComponentFilter, ComponentStatus, Grant, InstallationKey, MessageFilter, NewComponent,
    StateNamespace, Store, StoreError, testing::Kind,
};
use serde_json::json;

use super::{agent, always, history::new_agent, message::add, raw, tool::custom};

/// How many migrations there are.
fn migrations() -> i64 {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/sqlite");
    i64::try_from(std::fs::read_dir(folder).unwrap().count()).unwrap()
}

fn component(bytes: &[u8]) -> NewComponent {
    NewComponent {
        name: "a".to_owned(),
        digest: Digest::of(bytes),
        bytes: bytes.to_owned(),
        description: json!({}),
    }
}

on_both! {
    async fn a_database_is_migrated_once_and_keeps_what_it_holds(database) {
        let store = database.open().await;
        store.put_component(component(b"1"), always(ComponentStatus::Active)).await.unwrap();
        store.close().await;
        let store = database.open().await;
        assert_eq!(store.components(&ComponentFilter::default()).await.unwrap().len(), 1);
        let versions = "SELECT COUNT(*) FROM schema_versions";
        assert_eq!(raw::number(&database, versions).await, migrations());
    }

    async fn a_database_of_the_first_release_gets_what_came_since_and_keeps_what_it_holds(database) {
        if let Some(folder) = database.folder() {
            // An empty file is an empty database.
            std::fs::write(folder.join("test.db"), b"").unwrap();
        }
        let first = match database.kind() {
            Kind::Sqlite => include_str!("../../migrations/sqlite/0001_initial.sql"),
            Kind::Postgres => include_str!("../../migrations/postgres/0001_initial.sql"),
        };
        database.script(first).await;
        let grant = Grant::new("web", json!({}));
        let (id, at) = (grant.id, grant.created_at.micros());
        let held = format!(
            "INSERT INTO grants (id, component, capabilities, created_at)
                VALUES ('{id}', 'web', '{{}}', {at});
            CREATE TABLE schema_versions (
                version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
            INSERT INTO schema_versions VALUES (1, 0);"
        );
        database.script(&held).await;
        let store = database.open().await;
        assert_eq!(store.grant(&id).await.unwrap(), Some(grant));
        let versions = "SELECT COUNT(*) FROM schema_versions";
        assert_eq!(raw::number(&database, versions).await, migrations());
        assert!(store.upsert_tool(custom("a")).await.unwrap().is_new);
        let agent = agent::made(&store, "a").await;
        assert_eq!(store.agent(&agent.id).await.unwrap(), Some(agent));
    }

    async fn messages_of_before_are_found_by_their_group(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let group = Some("group-1".to_owned());
        let mut plain = Message::text(agent, Role::User, "hello");
        plain.group_id.clone_from(&group);
        let full = Message {
            group_id: group.clone(), model: Some("m".to_owned()), is_err: Some(true),
            ..Message::text(agent, Role::User, "nul\0 \"group_id\":\"group-2\"")
        };
        let other = Message {
            approvals: vec![Approval::Tool {
                tool_call_id: "call_1".to_owned(), tool_return: json!({ "group_id": "group-1" }),
                status: ToolStatus::Success, stdout: None, stderr: None,
            }],
            ..Message::text(agent, Role::Approval, "")
        };
        add(&store, agent, vec![plain.clone(), full.clone(), other]).await;
        store.close().await;
        database.script("DROP INDEX messages_by_group; ALTER TABLE messages DROP COLUMN group_id;
            DELETE FROM schema_versions WHERE version = 12;").await;
        let store = database.open().await;
        let filter = MessageFilter { group_id: group, ..MessageFilter::default() };
        assert_eq!(store.messages(&filter).await.unwrap(), [plain, full]);
    }

    async fn many_that_open_a_new_database_at_once_all_succeed(database) {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let (url, key) = (database.url().to_owned(), database.key());
            tasks.spawn(async move { Store::open(&url, key).await });
        }
        while let Some(opened) = tasks.join_next().await {
            opened.unwrap().unwrap().ping().await.unwrap();
        }
    }

    async fn a_database_of_a_newer_release_is_refused_and_not_changed(database) {
        database.open().await.close().await;
        database.script("INSERT INTO schema_versions VALUES (9000, 0)").await;
        let error = Store::open(database.url(), database.key()).await.unwrap_err();
        let StoreError::NewerDatabase { found, known } = error else { panic!("{error:?}") };
        assert_eq!((found, known), (9000, migrations()));
        let error = StoreError::NewerDatabase { found, known };
        assert!(error.to_string().contains("9000"));
        database.script("DELETE FROM schema_versions WHERE version = 9000").await;
        database.open().await.ping().await.unwrap();
    }

    async fn a_closed_store_says_that_it_is_unavailable(database) {
        let store = database.open().await;
        store.ping().await.unwrap();
        store.close().await;
        let error = store.ping().await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }

    async fn writers_that_are_cut_off_do_not_block_those_that_follow(database) {
        let store = database.open().await;
        let space = StateNamespace::new("tool", None);
        for micros in 0..60 {
            let key = micros.to_string();
            let put = store.state_put(&space, &key, vec![0; 100], None);
            tokio::time::timeout(std::time::Duration::from_micros(micros * 20), put).await.ok();
        }
        store.state_put(&space, "last", vec![], None).await.unwrap();
        let keys = store.state_keys(&space, "", 1000).await.unwrap();
        let held = raw::number(&database, "SELECT entries FROM state_namespaces").await;
        assert_eq!(keys.len() as i64, held, "an entry and its count are one transaction");
    }

    async fn two_stores_share_one_database(database) {
        let first = database.open().await;
        let second = database.open().await;
        let space = StateNamespace::new("tool", None);
        let version = first.state_put(&space, "k", b"1".to_vec(), None).await.unwrap();
        let version = second.state_put(&space, "k", b"2".to_vec(), Some(version)).await.unwrap();
        let entry = first.state_get(&space, "k").await.unwrap().unwrap();
        assert_eq!((entry.value, entry.version), (b"2".to_vec(), version));
    }
}

#[tokio::test]
async fn a_database_in_memory_works_and_is_not_shared() {
    let open = || Store::open("sqlite::memory:", InstallationKey::generate().unwrap());
    let (first, second) = (open().await.unwrap(), open().await.unwrap());
    first
        .put_component(component(b"1"), always(ComponentStatus::Active))
        .await
        .unwrap();
    assert_eq!(
        first
            .components(&ComponentFilter::default())
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(
        second
            .components(&ComponentFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn unusable_urls_are_refused_without_repeating_them() {
    for url in [
        "",
        "mysql://u:hunter2@h/d",
        "/tmp/x",
        "postgres://u:hunter2@h:x/d",
    ] {
        let error = Store::open(url, InstallationKey::generate().unwrap())
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Url(_)), "{url}: {error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("postgres://u@127.0.0.1:{port}/d");
    let error = Store::open(&url, InstallationKey::generate().unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "This is not a database. ".repeat(100);
    std::fs::write(&path, &text).unwrap();
    let url = format!("sqlite://{}", path.display());
    let error = Store::open(&url, InstallationKey::generate().unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_of_a_database_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let database = bulkhead_store::testing::TestDatabase::create(Kind::Sqlite)
        .await
        .unwrap();
    let store = database.open().await;
    store
        .put_component(component(b"1"), always(ComponentStatus::Active))
        .await
        .unwrap();
    for file in std::fs::read_dir(database.folder().unwrap()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}
