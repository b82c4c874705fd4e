//! A look at a database past the store, as somebody with access to it has.

use bulkhead_store::testing::{Kind, TestDatabase};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection};

/// The first column, a number, of the first row.
pub(crate) async fn number(database: &TestDatabase, query: &str) -> i64 {
    let query = sqlx::raw_sql(AssertSqlSafe(query.to_owned()));
    match database.kind() {
        Kind::Sqlite => {
            let mut connection = SqliteConnection::connect(database.url()).await.unwrap();
            query.fetch_one(&mut connection).await.unwrap().get(0)
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(database.url()).await.unwrap();
            query.fetch_one(&mut connection).await.unwrap().get(0)
        }
    }
}

/// The sealed bytes of all credentials.
pub(crate) async fn sealed(database: &TestDatabase) -> Vec<u8> {
    let query = sqlx::raw_sql("SELECT sealed FROM credentials");
    let rows: Vec<Vec<u8>> = match database.kind() {
        Kind::Sqlite => {
            let mut connection = SqliteConnection::connect(database.url()).await.unwrap();
            let rows = query.fetch_all(&mut connection).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(database.url()).await.unwrap();
            let rows = query.fetch_all(&mut connection).await.unwrap();
            // A statement without parameters comes back as text: hex digits.
            let text = |row: &sqlx::postgres::PgRow| {
                let text: &str = row.try_get_raw(0).unwrap().as_str().unwrap();
                hex::decode(text.trim_start_matches("\\x")).unwrap()
            };
            rows.iter().map(text).collect()
        }
    };
    rows.concat()
}
