//! A disk without space. SQLite gets a limit on its pages; Postgres a trigger that answers as
//! a full disk does (SQLSTATE 53100).

use std::error::Error as _;

use bulkhead_domain::Digest;
use bulkhead_store::{
    ComponentStatus, NewComponent, Options, ReceiptFilter, ReceiptWriter, StateNamespace, Store,
    StoreError,
    testing::{Kind, TestDatabase},
};
use serde_json::json;

use super::{always, receipt::receipt};

const FILL: &str = "CREATE FUNCTION full_disk() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql;
    CREATE TRIGGER full_disk BEFORE INSERT ON components EXECUTE FUNCTION full_disk();
    CREATE TRIGGER full_disk BEFORE INSERT ON receipts EXECUTE FUNCTION full_disk();";
const EMPTY: &str = "DROP TRIGGER full_disk ON components; DROP TRIGGER full_disk ON receipts;";

/// Opens the database without room for `LARGE`.
async fn without_space(database: &TestDatabase) -> Store {
    let mut options = Options::default();
    match database.kind() {
        Kind::Sqlite => options.sqlite_max_bytes = Some(1 << 20),
        Kind::Postgres => database.script(FILL).await,
    }
    database.open_with(options).await
}

async fn with_space(database: &TestDatabase) -> Store {
    if database.kind() == Kind::Postgres {
        database.script(EMPTY).await;
    }
    database.open().await
}

fn large() -> NewComponent {
    let bytes = vec![7; 2 << 20];
    NewComponent {
        name: "a".to_owned(),
        digest: Digest::of(&bytes),
        bytes,
        description: json!({}),
    }
}

fn assert_full(error: &StoreError) {
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(error.is_transient() && error.source().is_some());
}

on_both! {
    async fn a_full_disk_is_said_and_nothing_stored_is_lost(database) {
        let store = database.open().await;
        let space = StateNamespace::new("tool", None);
        let version = store.state_put(&space, "k", b"kept".to_vec(), None).await.unwrap();
        let small = NewComponent { bytes: vec![1], digest: Digest::of(&[1]), ..large() };
        store.put_component(small.clone(), always(ComponentStatus::Active)).await.unwrap();
        store.put_receipts(&[receipt(1)]).await.unwrap();
        store.close().await;

        let store = without_space(&database).await;
        for _ in 0..3 {
            let put = store.put_component(large(), always(ComponentStatus::Active)).await;
            assert_full(&put.unwrap_err());
            let receipts: Vec<_> = (0..3000).map(|_| receipt(2)).collect();
            assert_full(&store.put_receipts(&receipts).await.unwrap_err());
        }
        // What was stored is there, as it was, and what fits is still written.
        assert_eq!(store.component(&large().digest).await.unwrap(), None);
        let active = store.component_by_name("a").await.unwrap().unwrap();
        assert_eq!((active.digest, active.status), (small.digest, ComponentStatus::Active));
        assert_eq!(store.receipts(&ReceiptFilter::default()).await.unwrap().len(), 1);
        assert_eq!(store.state_get(&space, "k").await.unwrap().unwrap().version, version);
        store.state_put(&space, "k", b"new".to_vec(), Some(version)).await.unwrap();
        store.close().await;

        let store = with_space(&database).await;
        store.put_component(large(), always(ComponentStatus::Active)).await.unwrap();
        assert_eq!(store.state_get(&space, "k").await.unwrap().unwrap().value, b"new");
    }

    async fn the_writer_waits_for_space_and_then_stores_everything(database) {
        database.open().await.close().await;
        let Kind::Postgres = database.kind() else {
            // A connection's limit on pages cannot be raised from outside.
            return;
        };
        let store = without_space(&database).await;
        let writer = ReceiptWriter::start(store);
        for number in 0..10 {
            writer.write(receipt(number)).await.unwrap();
        }
        let flushed = tokio::spawn({
            let writer = writer.clone();
            async move { writer.flush().await }
        });
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert!(!flushed.is_finished());
        let store = with_space(&database).await;
        flushed.await.unwrap().unwrap();
        assert_eq!(store.receipts(&ReceiptFilter::default()).await.unwrap().len(), 10);
    }
}
