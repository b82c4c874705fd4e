//! A database that a release without the platform filled, opened by this one.

use bulkhead_domain::{
    Agent, Archive, Message, Role,
    platform::{Project, Standing},
};
use bulkhead_store::testing::{Kind, TestDatabase};
use serde_json::{Value, json};

use super::{
    agent::agent,
    block::block,
    history::{run, step},
    identity::identity,
    raw, user,
};

/// The scripts of the last release without the platform.
macro_rules! scripts {
    ($folder:literal) => {
        [
            include_str!(concat!("../../migrations/", $folder, "/0001_initial.sql")),
            include_str!(concat!("../../migrations/", $folder, "/0002_tools.sql")),
            include_str!(concat!("../../migrations/", $folder, "/0003_agents.sql")),
            include_str!(concat!("../../migrations/", $folder, "/0004_history.sql")),
            include_str!(concat!("../../migrations/", $folder, "/0005_run_otids.sql")),
        ]
    };
}

/// Makes the database as that release left it.
async fn of_before(database: &TestDatabase) {
    if let Some(folder) = database.folder() {
        // An empty file is an empty database.
        std::fs::write(folder.join("test.db"), b"").unwrap();
    }
    let scripts = match database.kind() {
        Kind::Sqlite => scripts!("sqlite"),
        Kind::Postgres => scripts!("postgres"),
    };
    for script in scripts {
        database.script(script).await;
    }
    let versions = "CREATE TABLE schema_versions (
            version BIGINT NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL);
        INSERT INTO schema_versions VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0);";
    database.script(versions).await;
}

/// A value of a row.
enum Field {
    Text(String),
    Number(i64),
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Field {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// What that release knew of a thing: all but these fields.
fn document(mut thing: Value, unknown: &[&str]) -> String {
    let fields = thing.as_object_mut().unwrap();
    fields.retain(|key, _| !unknown.contains(&key.as_str()));
    thing.to_string()
}

async fn insert(database: &TestDatabase, table: &str, row: Vec<(&str, Field)>) {
    let (columns, values): (Vec<_>, Vec<_>) = row.into_iter().unzip();
    let values = values.into_iter().map(|value| match value {
        Field::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Field::Number(number) => number.to_string(),
    });
    let values: Vec<_> = values.collect();
    let (columns, values) = (columns.join(", "), values.join(", "));
    let insert = format!("INSERT INTO {table} ({columns}) VALUES ({values})");
    database.script(&insert).await;
}

on_both! {
    async fn what_a_release_without_the_platform_stored_is_read_and_goes_on(database) {
        of_before(&database).await;
        let mut kept = Agent { created_by_id: Some("user-1".to_owned()), ..agent("Ada's") };
        let system = Message::text(kept.id, Role::System, "You are it.");
        let said = Message::text(kept.id, Role::User, "It's sunny.");
        kept.message_ids = vec![system.id, said.id];
        let at = kept.created_at.micros();
        let ids = serde_json::to_string(&kept.message_ids).unwrap();
        insert(&database, "agents", vec![
            ("id", kept.id.to_string().into()), ("name", kept.name.as_str().into()),
            ("name_folded", "ada's".into()), ("created_by_id", "user-1".into()),
            ("created_at", at.into()), ("updated_at", at.into()), ("size", 1.into()),
            ("message_ids", ids.into()),
            ("document", document(json!(kept), &["message_ids", "standing", "fallback_models"]).into()),
        ]).await;
        for message in [&system, &said] {
            let role = if message.role == Role::System { "system" } else { "user" };
            insert(&database, "messages", vec![
                ("id", message.id.to_string().into()), ("agent_id", kept.id.to_string().into()),
                ("role", role.into()), ("created_at", message.created_at.micros().into()),
                ("text_folded", message.plain_text().to_lowercase().into()), ("size", 1.into()),
                ("body", json!({ "content": message.content }).to_string().into()),
            ]).await;
        }
        let notes = block("notes", "100 %");
        let mut bare = notes.clone();
        bare.value.clear();
        insert(&database, "blocks", vec![
            ("id", notes.id.to_string().into()), ("label", "notes".into()),
            ("label_folded", "notes".into()), ("value_folded", "100 %".into()),
            ("is_template", 0.into()), ("version", 1.into()),
            ("created_at", at.into()), ("updated_at", at.into()), ("size", 1.into()),
            ("value", "100 %".into()), ("document", document(json!(bare), &[]).into()),
        ]).await;
        insert(&database, "agent_blocks", vec![
            ("agent_id", kept.id.to_string().into()), ("block_id", notes.id.to_string().into()),
            ("label", "notes".into()),
        ]).await;
        let archive = Archive::new("books");
        insert(&database, "archives", vec![
            ("id", archive.id.to_string().into()), ("name", "books".into()),
            ("created_at", archive.created_at.micros().into()), ("size", 1.into()),
            ("document", document(json!(archive), &[]).into()),
        ]).await;
        let person = identity("ada");
        insert(&database, "identities", vec![
            ("id", person.id.to_string().into()), ("identifier_key", "ada".into()),
            ("name", person.name.as_str().into()), ("identity_type", "user".into()),
            ("created_at", person.created_at.micros().into()),
            ("updated_at", person.updated_at.micros().into()), ("size", 1.into()),
            ("document", document(json!(person), &["created_by_id"]).into()),
        ]).await;
        let ran = run(kept.id);
        insert(&database, "runs", vec![
            ("id", ran.id.to_string().into()), ("agent_id", kept.id.to_string().into()),
            ("status", "created".into()), ("background", 0.into()), ("created_at", at.into()),
            ("alive_at", at.into()), ("size", 1.into()), ("document", document(json!(ran), &[]).into()),
        ]).await;
        let done = step(kept.id, Some(ran.id));
        insert(&database, "steps", vec![
            ("id", done.id.to_string().into()), ("agent_id", kept.id.to_string().into()),
            ("run_id", ran.id.to_string().into()), ("model", "scripted".into()),
            ("tags", "[]".into()), ("completion_tokens", 5.into()), ("prompt_tokens", 20.into()),
            ("total_tokens", 25.into()), ("created_at", at.into()), ("size", 1.into()),
            ("document", document(json!(done), &["model_handle"]).into()),
        ]).await;

        let store = database.open().await;
        let versions = raw::number(&database, "SELECT MAX(version) FROM schema_versions").await;
        assert!(versions >= 6, "{versions}");
        // What it had is there, and nobody's.
        assert_eq!(store.agent(&kept.id).await.unwrap(), Some(kept.clone()));
        assert_eq!(kept.standing, Standing::Active);
        assert_eq!(store.message(&said.id).await.unwrap(), Some(said));
        assert_eq!(store.block(&notes.id).await.unwrap(), Some(notes.clone()));
        assert_eq!(store.blocks_of(&[kept.id]).await.unwrap()[&kept.id], std::slice::from_ref(&notes));
        assert_eq!(store.archive(&archive.id).await.unwrap(), Some(archive.clone()));
        assert_eq!(store.identity(&person.id).await.unwrap(), Some(person.clone()));
        assert_eq!(store.run(&ran.id).await.unwrap(), Some(ran.clone()));
        assert_eq!(store.step(&done.id).await.unwrap(), Some(done.clone()));
        assert_eq!(store.run_usage(&ran.id).await.unwrap().unwrap().total_tokens, 25);
        assert_eq!(raw::number(&database, "SELECT fuel FROM steps").await, 0);
        assert_eq!(store.verify_thread(&kept.id, None).await.unwrap(), []);
        assert!(store.instance_of(kept.id).await.unwrap().is_none());
        let ids = [
            kept.id.to_string(), notes.id.to_string(), archive.id.to_string(),
            person.id.to_string(), ran.id.to_string(), done.id.to_string(),
        ];
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let owners = store.owners(&names).await.unwrap();
        assert_eq!((owners.len(), owners.values().filter_map(|owner| owner.user()).count()), (ids.len(), 0));
        // And what this release adds goes with it.
        store.create_run(&run(kept.id)).await.unwrap();
        let ada = user::made(&store, "ada@example.com").await;
        let project = Project::new(ada.id, "One", "one");
        store.create_project(&project).await.unwrap();
        assert_eq!(store.project(project.id).await.unwrap(), Some(project));
        store.close().await;
        assert_eq!(database.open().await.agent(&kept.id).await.unwrap(), Some(kept));
    }
}
