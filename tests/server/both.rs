//! Tests of what must hold on both databases.

use std::future::Future;

use bulkhead_store::testing::Kind;

use crate::support::TestServer;

/// Each test has a server of its own and runs twice: as `sqlite::name` and as `postgres::name`.
macro_rules! on_both {
    ($($(#[$attribute:meta])* async fn $name:ident($server:ident) $body:block)*) => {
        $($(#[$attribute])* async fn $name($server: crate::support::TestServer) $body)*

        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                crate::both::on(bulkhead_store::testing::Kind::Sqlite, super::$name).await;
            })*
        }

        mod postgres {
            $(#[tokio::test]
            async fn $name() {
                crate::both::on(bulkhead_store::testing::Kind::Postgres, super::$name).await;
            })*
        }
    };
}

pub(crate) use on_both;

/// Runs a test with a server on this database, where there is one.
pub(crate) async fn on<T: Future<Output = ()>>(kind: Kind, test: impl FnOnce(TestServer) -> T) {
    if let Some(server) = TestServer::start_kind(kind).await {
        test(server).await;
    }
}
