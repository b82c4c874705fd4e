//! One suite, run on SQLite and on Postgres.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Each test runs twice, on a fresh database each time, as `sqlite::name` and `postgres::name`.
macro_rules! on_both {
    ($($(#[$attribute:meta])* async fn $name:ident($database:ident) $body:block)*) => {
        $(async fn $name($database: bulkhead_store::testing::TestDatabase) $body)*

        mod sqlite {
            $($(#[$attribute])* #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                use bulkhead_store::testing::{Kind, TestDatabase};
                super::$name(TestDatabase::create(Kind::Sqlite).await.unwrap()).await;
            })*
        }

        mod postgres {
            $($(#[$attribute])* #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                use bulkhead_store::testing::{Kind, TestDatabase};
                if let Some(database) = TestDatabase::create(Kind::Postgres).await {
                    super::$name(database).await;
                }
            })*
        }
    };
}

/// Decides the same whatever stands there.
fn always(
    status: bulkhead_store::ComponentStatus,
) -> impl FnOnce(
    bulkhead_store::Standing<'_>,
) -> Result<bulkhead_store::ComponentStatus, bulkhead_store::StoreError>
+ Send {
    move |_| Ok(status)
}

mod agent;
mod agent_list;
mod agent_type;
mod archive;
mod block;
mod commit;
mod component;
mod conversation;
mod credential;
mod database;
mod folder;
mod full;
mod grant;
mod group;
mod history;
mod identity;
mod instance;
mod mcp_server;
mod message;
mod owner;
mod package_set;
mod project;
mod provider;
mod raw;
mod receipt;
mod receipt_writer;
mod run;
mod run_events;
mod run_otids;
mod run_turn;
mod sandbox_config;
mod sandbox_variable;
mod session;
mod state;
mod step;
mod tool;
mod tool_component;
mod tool_list;
mod upgrade;
mod usage;
mod user;
