use bulkhead_store::{InstallationKey, NewCredential, Store, StoreError, testing::Kind};
use serde_json::json;
use zeroize::Zeroizing;

use super::raw;

const SECRET: &[u8] = b"correct horse battery staple";

fn credential(name: &str, secret: &[u8]) -> NewCredential {
    NewCredential {
        name: name.to_owned(),
        secret: Zeroizing::new(secret.to_owned()),
        placement: json!({ "header": "authorization" }),
        audience: json!(["api.example.com"]),
    }
}

async fn assert_corrupt(store: &Store, name: &str) {
    let error = store.reveal_credential(name).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

on_both! {
    async fn a_credential_is_revealed_as_it_was_put_and_listed_without_its_secret(database) {
        let store = database.open().await;
        let secret: Vec<u8> = (0..=255).collect();
        let put = store.put_credential(credential("b", &secret)).await.unwrap();
        store.put_credential(credential("a", SECRET)).await.unwrap();
        let revealed = store.reveal_credential("b").await.unwrap().unwrap();
        assert_eq!(revealed.expose(), secret);
        assert_eq!(revealed.credential, put);
        assert!(store.reveal_credential("c").await.unwrap().is_none());
        let listed = store.credentials().await.unwrap();
        assert_eq!(listed.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let printed = format!("{:?} {:?}", store.reveal_credential("a").await, credential("a", SECRET));
        assert!(!printed.contains("staple") && !printed.contains(&format!("{SECRET:?}")));
    }

    async fn a_new_secret_takes_the_place_of_the_old(database) {
        let store = database.open().await;
        let first = store.put_credential(credential("a", b"old")).await.unwrap();
        let second = store.put_credential(credential("a", b"new")).await.unwrap();
        assert_eq!((second.id, second.created_at), (first.id, first.created_at));
        assert_eq!(store.reveal_credential("a").await.unwrap().unwrap().expose(), b"new");
        assert_eq!(store.credentials().await.unwrap().len(), 1);
    }

    async fn a_name_that_many_take_at_once_still_opens(database) {
        let store = database.open().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let store = store.clone();
            tasks.spawn(async move { store.put_credential(credential("a", SECRET)).await });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
        assert_eq!(store.reveal_credential("a").await.unwrap().unwrap().expose(), SECRET);
    }

    async fn the_database_does_not_contain_the_secret(database) {
        let store = database.open().await;
        store.put_credential(credential("a", SECRET)).await.unwrap();
        let sealed = raw::sealed(&database).await;
        assert_eq!(sealed.len(), 24 + SECRET.len() + 16, "nonce, ciphertext, tag");
        let contains = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET);
        assert!(!contains(&sealed));
        if database.kind() == Kind::Sqlite {
            for file in std::fs::read_dir(database.folder().unwrap()).unwrap() {
                assert!(!contains(&std::fs::read(file.unwrap().path()).unwrap()));
            }
        }
    }

    async fn swapped_secrets_are_refused(database) {
        let store = database.open().await;
        store.put_credential(credential("a", b"1")).await.unwrap();
        store.put_credential(credential("b", b"2")).await.unwrap();
        let swap = "CREATE TABLE copies AS SELECT name, sealed FROM credentials;
            UPDATE credentials SET sealed =
            (SELECT copies.sealed FROM copies WHERE copies.name <> credentials.name)";
        database.script(swap).await;
        assert_corrupt(&store, "a").await;
        assert_corrupt(&store, "b").await;
    }

    async fn a_secret_cannot_be_pointed_at_another_audience_name_or_place(database) {
        let store = database.open().await;
        for change in [
            "audience = '[\"evil.example.com\"]'",
            "placement = '{\"query\":\"key\"}'",
            "id = 'credential-6f0f2f4c-5f43-4f6b-9d5c-0d1d8f3a9a11'",
        ] {
            store.put_credential(credential("a", SECRET)).await.unwrap();
            database.script(&format!("UPDATE credentials SET {change}")).await;
            assert_corrupt(&store, "a").await;
        }
        store.put_credential(credential("a", SECRET)).await.unwrap();
        database.script("UPDATE credentials SET name = 'b'").await;
        assert_corrupt(&store, "b").await;
    }

    async fn another_key_is_refused_on_opening_and_the_right_one_still_works(database) {
        let store = database.open().await;
        store.put_credential(credential("a", SECRET)).await.unwrap();
        store.close().await;
        let other = InstallationKey::generate().unwrap();
        let error = Store::open(database.url(), other).await.unwrap_err();
        assert!(matches!(error, StoreError::WrongKey), "{error:?}");
        let store = database.open().await;
        assert_eq!(store.reveal_credential("a").await.unwrap().unwrap().expose(), SECRET);
    }

    async fn a_deleted_credential_is_gone_and_a_huge_one_refused(database) {
        let store = database.open().await;
        store.put_credential(credential("a", SECRET)).await.unwrap();
        assert!(store.delete_credential("a").await.unwrap());
        assert!(!store.delete_credential("a").await.unwrap());
        assert!(store.reveal_credential("a").await.unwrap().is_none());
        let error = store.put_credential(credential("a", &[0; 70_000])).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
    }
}
