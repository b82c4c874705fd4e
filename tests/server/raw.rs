//! The database past the server, as somebody with access to it has it.

use bulkhead_store::testing::Kind;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

use crate::support::TestServer;

/// Runs a script.
pub(crate) async fn script(server: &TestServer, script: &str) {
    let database = server.database();
    let script = sqlx::raw_sql(AssertSqlSafe(script.to_owned()));
    match database.kind() {
        Kind::Sqlite => {
            let mut connection = SqliteConnection::connect(database.url()).await.unwrap();
            script.execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(database.url()).await.unwrap();
            script.execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}
