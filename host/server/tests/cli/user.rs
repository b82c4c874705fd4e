//! `bulkhead user`: people who sign in, made without a server and next to a running one.

use std::path::Path;

use bulkhead_store::{
    InstallationKey, Store,
    testing::{Kind, TestDatabase},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Ended, Server, bulkhead, run, run_with_input, text};

const PASSWORD: &str = "correct horse battery\n";

/// Runs a command on a data folder, with a password on standard input.
fn user(folder: &Path, arguments: &[&str], password: &str) -> Ended {
    let folder = text(folder);
    let arguments = [&["user"], arguments, &["--data-dir", &folder]].concat();
    run_with_input(&arguments, password)
}

#[test]
fn the_first_superuser_is_made_without_a_server() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let made = [
        "create",
        "--email",
        " Ada@Example.com ",
        "--superuser",
        "--first-name",
        "Ada",
        "--json",
    ];
    let made = user(&data, &made, PASSWORD).with(0);
    let view = made.json();
    assert_eq!(view["email"], "ada@example.com");
    assert_eq!(view["is_superuser"], true);
    assert_eq!(view["first_name"], "Ada");
    for text in [&made.out, &made.err] {
        assert!(
            !text.contains("horse") && !text.contains("argon2"),
            "{text}"
        );
    }
    user(&data, &["create", "--email", "bob@example.com"], PASSWORD).with(0);

    let listed = user(&data, &["list"], "").with(0).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].starts_with("ada@example.com") && lines[0].ends_with("superuser"));
    assert_eq!(lines[1], "bob@example.com");
    let listed = user(&data, &["list", "--email", "BOB", "--json"], "").with(0);
    assert_eq!(listed.json().as_array().map(Vec::len), Some(1));
    assert_eq!(listed.json()[0]["is_superuser"], false);
    let first = user(&data, &["list", "--limit", "1", "--json"], "").with(0);
    assert_eq!(first.json(), json!([view]));
    assert!(first.err.contains("1 more"), "{}", first.err);
}

#[test]
fn what_is_refused_says_why_and_makes_nobody() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |email: &str, password: &str| {
        let ended = user(
            folder.path(),
            &["create", "--email", email, "--json"],
            password,
        )
        .with(3);
        ended.json()["error"]["code"].as_str().map(str::to_owned)
    };
    let code = |code: &str| Some(code.to_owned());
    assert_eq!(refused("nobody", PASSWORD), code("invalid_email"));
    assert_eq!(
        refused("ada@example.com", "password\n"),
        code("weak_password")
    );
    assert_eq!(
        refused("ada@example.com", "ada@example.com\n"),
        code("weak_password")
    );
    assert_eq!(
        refused("ada@example.com", &"x".repeat(1 << 15)),
        code("weak_password")
    );
    let advice = user(
        folder.path(),
        &["create", "--email", "a@example.com"],
        "short",
    )
    .with(3);
    assert!(
        advice.err.contains("at least 8 characters"),
        "{}",
        advice.err
    );
    user(folder.path(), &["create", "--email", "ada@example.com"], "").with(2);
    let none = user(folder.path(), &["list", "--json"], "").with(0);
    assert_eq!(none.json(), json!([]));

    user(
        folder.path(),
        &["create", "--email", "ada@example.com"],
        PASSWORD,
    )
    .with(0);
    assert_eq!(refused("ADA@example.com", PASSWORD), code("email_taken"));
}

#[test]
fn a_password_comes_from_the_environment_where_it_is_set() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let create = |password: &str| -> Ended {
        let mut command = bulkhead(&["user", "create", "--email", "ada@example.com"]);
        command.arg("--data-dir").arg(folder.path());
        let output = command.env("BULKHEAD_PASSWORD", password).output();
        output.expect("the program runs").into()
    };
    create("password").with(3);
    // Empty is none; standard input has nothing either.
    create("").with(2);
    create("correct horse battery").with(0);
}

#[test]
fn another_password_is_set_for_who_is_there_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    user(
        folder.path(),
        &["create", "--email", "ada@example.com"],
        PASSWORD,
    )
    .with(0);
    let set = |email: &str, password: &str| {
        let arguments = ["set-password", "--email", email, "--json"];
        user(folder.path(), &arguments, password)
    };
    let unknown = set("bob@example.com", PASSWORD).with(3).json();
    assert_eq!(unknown["error"]["code"], "no_such_user");
    let weak = set("ada@example.com", "12345678\n").with(3).json();
    assert_eq!(weak["error"]["code"], "weak_password");
    let changed = set("Ada@example.com", "staple battery horse\n").with(0);
    assert_eq!(changed.json()["email"], "ada@example.com");
    assert!(!changed.out.contains("staple"), "{}", changed.out);
}

#[test]
fn a_user_is_made_next_to_a_running_server() {
    let server = Server::start(&[]);
    let create = ["create", "--email", "ada@example.com", "--superuser"];
    user(&server.data(), &create, PASSWORD).with(0);
    server.run(&["tool", "list"]).with(0);
    let listed = user(&server.data(), &["list"], "").with(0).out;
    assert!(listed.starts_with("ada@example.com"), "{listed}");
}

#[tokio::test]
async fn a_superuser_of_the_command_line_signs_in_and_no_secret_is_logged() {
    let server = Server::start_logging();
    let create = ["create", "--email", "root@example.com", "--superuser"];
    user(&server.data(), &create, PASSWORD).with(0);
    let path = |rest: &str| format!("/api/v1/{rest}");
    let mut secrets = vec![PASSWORD.trim().to_owned(), "$argon2".to_owned()];
    let ask = async |rest: &str, token: Option<&str>, body: &Value| {
        server.ask(Method::POST, &path(rest), token, body).await
    };
    let login = json!({ "email": "root@example.com", "password": PASSWORD.trim() });
    let (status, root) = ask("auth/login", None, &login).await;
    assert_eq!(status, 200, "{root}");
    let token = root["access_token"].as_str().expect("a token").to_owned();
    let (status, users) = server
        .ask(Method::GET, &path("users"), Some(&token), &Value::Null)
        .await;
    assert_eq!(
        (status, &users["data"][0]["is_superuser"]),
        (200, &json!(true)),
        "{users}"
    );
    let (first, second) = ("correct-Horse-7-battery", "wrong-Staple-9-paper");
    let (wrong, weak) = ("another-Maple-5-lantern", "weak-secret-weak");
    secrets.extend([first, second, wrong].map(str::to_owned));
    let ada = |password: &str| json!({ "email": "ada@example.com", "password": password });
    assert_eq!(ask("auth/register", None, &ada(first)).await.0, 201);
    assert_eq!(ask("auth/login", None, &ada(wrong)).await.0, 401);
    // A field of another type is named, and its value is not.
    let misplaced = json!({ "email": "ada@example.com", "password": [weak] });
    assert_eq!(ask("auth/login", None, &misplaced).await.0, 422);
    secrets.push(weak.to_owned());
    let (status, tokens) = ask("auth/login", None, &ada(first)).await;
    assert_eq!(status, 200, "{tokens}");
    let refresh = json!({ "refresh_token": tokens["refresh_token"] });
    let (status, next) = ask("auth/refresh", None, &refresh).await;
    assert_eq!(status, 200, "{next}");
    let change = json!({ "current_password": first, "new_password": second });
    let access = next["access_token"].as_str();
    assert_eq!(ask("users/me/password", access, &change).await.0, 200);
    assert_eq!(
        ask("auth/refresh", None, &refresh).await.0,
        401,
        "it was used"
    );
    for given in [&root, &tokens, &next] {
        for kind in ["access_token", "refresh_token"] {
            secrets.push(given[kind].as_str().expect("a token").to_owned());
        }
    }
    let log = server.log();
    for known in ["answered", "/api/v1/auth/login", "password_hash"] {
        assert!(log.contains(known), "{known} is in a log of everything");
    }
    for secret in &secrets {
        let line = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_are_kept_in_postgres_where_the_installation_is() {
    let Some(database) = TestDatabase::create(Kind::Postgres).await else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let user = |arguments: &[&str], password: &str| {
        let arguments = [arguments, &["--database-url", database.url()]].concat();
        user(folder.path(), &arguments, password)
    };
    let create = [
        "create",
        "--email",
        "Ada@example.com",
        "--superuser",
        "--json",
    ];
    let made = user(&create, PASSWORD).with(0).json();
    let taken = user(&create, PASSWORD).with(3).json();
    assert_eq!(taken["error"]["code"], "email_taken");
    let listed = user(&["list", "--json"], "").with(0).json();
    assert_eq!(listed, json!([made]));
    let set = ["set-password", "--email", "ada@example.com", "--json"];
    user(&set, "staple battery horse\n").with(0);
    let key = InstallationKey::load_or_create(&folder.path().join("installation.key"));
    let store = Store::open(database.url(), key.expect("a key")).await;
    let store = store.expect("the database opens");
    let kept = store.user_by_email("ada@example.com").await;
    let (kept, hash) = kept.expect("the database answers").expect("she is there");
    assert!(
        kept.is_superuser && hash.starts_with("$argon2id$"),
        "{hash}"
    );
    let files = std::fs::read_dir(folder.path()).expect("the folder is there");
    let names = files.map(|file| file.expect("a file").file_name());
    let names: Vec<_> = names.collect();
    assert!(
        !names
            .iter()
            .any(|name| name.to_string_lossy().ends_with(".db")),
        "{names:?}"
    );
}

#[test]
fn a_database_of_another_key_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    user(
        folder.path(),
        &["create", "--email", "ada@example.com"],
        PASSWORD,
    )
    .with(0);
    let data = text(folder.path());
    let key = "ab".repeat(32);
    let ended = run(&["user", "list", "--data-dir", &data, "--key", &key, "--json"]).with(8);
    assert_eq!(ended.json()["error"]["code"], "database_error");
    run(&["user", "list", "--config", "/no/such/file.toml"]).with(2);
}
