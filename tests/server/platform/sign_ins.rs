//! What ends a sign-in, and what counts as a try of a password.

use reqwest::Method;
use serde_json::json;

use super::{PASSWORD, Person, ask, login};
use crate::{both::on_both, clients::text};

const ME: &str = "/api/v1/users/me";
/// More than may be tried in a row.
const MANY: usize = 12;
/// 91 days, in microseconds.
const LONG_AGO: i64 = 91 * 24 * 3_600 * 1_000_000;

on_both! {
    async fn a_failure_of_the_database_is_no_wrong_password(server) {
        let ada = Person::new(&server, "ada").await;
        let away = "ALTER TABLE users RENAME COLUMN password_hash TO away";
        let back = "ALTER TABLE users RENAME COLUMN away TO password_hash";
        let body = json!({ "current_password": PASSWORD, "new_password": "wrong-Staple-9-paper" });
        server.database().script(away).await;
        for _ in 0..MANY {
            let failed = login(&server, &ada.email, PASSWORD).await;
            assert!(failed.status.is_server_error(), "{failed:?}");
            let failed = ada.post(&server, "/api/v1/users/me/password", &body).await;
            assert!(failed.status.is_server_error(), "{failed:?}");
        }
        server.database().script(back).await;
        // And where the password was right, and the sign-in could not be stored.
        server.database().script("ALTER TABLE sessions RENAME COLUMN refreshed_at TO away").await;
        for _ in 0..MANY {
            let failed = login(&server, &ada.email, PASSWORD).await;
            assert!(failed.status.is_server_error(), "{failed:?}");
        }
        server.database().script("ALTER TABLE sessions RENAME COLUMN away TO refreshed_at").await;
        assert_eq!(login(&server, &ada.email, PASSWORD).await.status, 200);
        let changed = ada.post(&server, "/api/v1/users/me/password", &body).await;
        assert_eq!(changed.status, 200, "{changed:?}");
    }

    async fn the_oldest_sign_in_ends_at_once_where_one_too_many_begins(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let rows: Vec<String> = (0..99).map(|number| {
            let id = format!("session-{number:08x}-0000-4000-8000-000000000000");
            format!("('{id}', '{}', 0, 1, 1, 9000000000000000, NULL)", ada.id)
        }).collect();
        let insert = format!("INSERT INTO sessions (id, user_id, generation, created_at, refreshed_at,
            expires_at, ended_at) VALUES {}", rows.join(", "));
        server.database().script(&insert).await;
        for person in [&ada, &bob] {
            assert_eq!(person.get(&server, ME).await.status, 200);
        }
        let newest = login(&server, &ada.email, PASSWORD).await;
        assert_eq!(newest.status, 200, "{newest:?}");
        assert_eq!(ada.get(&server, ME).await.refusal(), (401, "unauthorized"));
        assert_eq!(bob.get(&server, ME).await.status, 200);
        let token = text(&newest.body["access_token"]);
        assert_eq!(ask(&server, Some(token), Method::GET, ME, None).await.status, 200);
    }

    async fn a_sign_in_is_not_renewed_for_ever(server) {
        let ada = Person::new(&server, "ada").await;
        let refresh = async |token: &str| {
            server.post("/api/v1/auth/refresh", &json!({ "refresh_token": token })).await
        };
        let renewed = refresh(&ada.refresh).await;
        assert_eq!(renewed.status, 200, "{renewed:?}");
        let age = format!("UPDATE sessions SET created_at = created_at - {LONG_AGO}");
        server.database().script(&age).await;
        let refused = refresh(text(&renewed.body["refresh_token"])).await;
        assert_eq!(refused.refusal(), (401, "unauthorized"));
        assert!(refused.text.contains("sign in again"), "{refused:?}");
        assert_eq!(login(&server, &ada.email, PASSWORD).await.status, 200);
    }
}
