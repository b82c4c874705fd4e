use bulkhead_domain::{
    Timestamp,
    platform::{Session, User, UserId},
};
use bulkhead_store::{NumberedPage, PasswordOutcome, Store, StoreError, UserFilter};

/// Far in the future.
pub(crate) const LATER: Timestamp = Timestamp::from_micros(4_000_000_000_000_000);

/// Stores a user with this address.
pub(crate) async fn made(store: &Store, email: &str) -> User {
    let user = User {
        first_name: "Ada".to_owned(),
        last_name: "Lövelace".to_owned(),
        ..User::new(email)
    };
    store.create_user(&user, "$argon2id$first").await.unwrap();
    user
}

fn named(email: &str) -> impl FnOnce(&mut User) -> Result<(), StoreError> + Send {
    move |user| {
        email.clone_into(&mut user.email);
        Ok(())
    }
}

on_both! {
    async fn a_user_reads_back_and_the_hash_of_the_password_apart(database) {
        let store = database.open().await;
        assert_eq!(store.users_count().await.unwrap(), 0);
        let user = made(&store, "ada@example.com").await;
        assert_eq!(store.user(user.id).await.unwrap().as_ref(), Some(&user));
        assert_eq!(store.user(UserId::random()).await.unwrap(), None);
        let found = store.user_by_email("ada@example.com").await.unwrap();
        assert_eq!(found, Some((user.clone(), "$argon2id$first".to_owned())));
        for nobody in ["ADA@example.com", "", "a\0@example.com", &"a".repeat(9000)] {
            assert_eq!(store.user_by_email(nobody).await.unwrap(), None);
        }
        let hash = store.password_hash(user.id).await.unwrap();
        assert_eq!(hash.as_deref(), Some("$argon2id$first"));
        assert_eq!(store.password_hash(UserId::random()).await.unwrap(), None);
        assert_eq!(store.users_count().await.unwrap(), 1);
        for (bad, hash) in [
            (User::new(""), "hash"),
            (User::new("b@example.com"), ""),
            (User { first_name: "x".repeat(9000), ..User::new("b@example.com") }, "hash"),
            (User { last_name: "\0".to_owned(), ..User::new("b@example.com") }, "hash"),
        ] {
            store.create_user(&bad, hash).await.unwrap_err();
            assert_eq!(store.user(bad.id).await.unwrap(), None);
        }
    }

    async fn an_address_is_one_users_alone(database) {
        let store = database.open().await;
        let first = made(&store, "ada@example.com").await;
        let second = made(&store, "bob@example.com").await;
        let taken = |error: StoreError| {
            assert_eq!(error.to_string(), "there is already a user named ada@example.com");
        };
        let again = User::new("ada@example.com");
        taken(store.create_user(&again, "hash").await.unwrap_err());
        taken(store.update_user(second.id, named("ada@example.com")).await.unwrap_err());
        assert_eq!(store.user(second.id).await.unwrap(), Some(second));
        let changed = store.update_user(first.id, |user| {
            user.id = UserId::random();
            user.created_at = LATER;
            user.is_superuser = true;
            named("ada@example.org")(user)
        });
        let changed = changed.await.unwrap();
        let expected = User {
            email: "ada@example.org".to_owned(),
            is_superuser: true,
            updated_at: changed.updated_at,
            ..first
        };
        assert_eq!(changed, expected);
        assert_eq!(store.user(first.id).await.unwrap(), Some(expected));
        store.create_user(&again, "hash").await.unwrap();
        let error = store.update_user(UserId::random(), named("x@example.com")).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "user", .. }), "{error:?}");
    }

    async fn another_password_ends_all_sessions_but_the_one_to_keep(database) {
        let store = database.open().await;
        let (ada, bob) = (made(&store, "a@example.com").await, made(&store, "b@example.com").await);
        let sessions = [ada.id, ada.id, bob.id].map(|user| Session::new(user, LATER));
        for session in &sessions {
            store.begin_session(session).await.unwrap();
        }
        store.set_password(ada.id, "$argon2id$second", Some(sessions[1].id)).await.unwrap();
        let mut living = Vec::new();
        for session in &sessions {
            living.push(store.session(session.id).await.unwrap().unwrap().ended_at.is_none());
        }
        assert_eq!(living, [false, true, true]);
        let hash = store.password_hash(ada.id).await.unwrap();
        assert_eq!(hash.as_deref(), Some("$argon2id$second"));
        store.set_password(ada.id, "$argon2id$third", None).await.unwrap();
        let kept = store.session(sessions[1].id).await.unwrap().unwrap();
        assert!(kept.ended_at.is_some());
        let error = store.set_password(UserId::random(), "hash", None).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "user", .. }), "{error:?}");
        // A newer hash of the same password is taken in place of the one that it was made from alone.
        let renew = |former| store.rehash_password(ada.id, former, "$argon2id$fourth");
        assert!(!renew("$argon2id$second").await.unwrap());
        assert!(renew("$argon2id$third").await.unwrap());
        let hash = store.password_hash(ada.id).await.unwrap();
        assert_eq!(hash.as_deref(), Some("$argon2id$fourth"));
        assert!(store.session(sessions[2].id).await.unwrap().unwrap().ended_at.is_none());
    }

    async fn a_change_made_with_a_former_password_or_in_an_ended_session_changes_nothing(database) {
        let store = database.open().await;
        let (ada, bob) = (made(&store, "a@example.com").await, made(&store, "b@example.com").await);
        let sessions = [ada.id, ada.id, bob.id].map(|user| Session::new(user, LATER));
        for session in &sessions {
            store.begin_session(session).await.unwrap();
        }
        let [own, other, of_bob] = sessions.each_ref().map(|session| session.id);
        let change = async |former, newer, session| {
            store.change_password(ada.id, former, newer, session).await.unwrap()
        };
        let hash = async || store.password_hash(ada.id).await.unwrap().unwrap();
        let ends = async |id| store.session(id).await.unwrap().unwrap().ended_at.is_some();
        let first = "$argon2id$first";
        assert_eq!(change(first, "x", of_bob).await, PasswordOutcome::SignedOut);
        assert_eq!(change("$argon2id$zero", "x", own).await, PasswordOutcome::Outdated);
        assert_eq!(hash().await, first);
        assert!(!ends(other).await);
        assert_eq!(change(first, "$argon2id$second", own).await, PasswordOutcome::Changed);
        assert_eq!((ends(own).await, ends(other).await, ends(of_bob).await), (false, true, false));
        // Both were compared before the first of them was written.
        assert_eq!(change(first, "x", own).await, PasswordOutcome::Outdated);
        assert_eq!(change("$argon2id$second", "x", other).await, PasswordOutcome::SignedOut);
        let expired = Session::new(ada.id, Timestamp::from_micros(1));
        store.begin_session(&expired).await.unwrap();
        let changed = change("$argon2id$second", "x", expired.id).await;
        assert_eq!(changed, PasswordOutcome::SignedOut);
        assert_eq!(hash().await, "$argon2id$second");
        let error = store.change_password(UserId::random(), first, "x", own).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "user", .. }), "{error:?}");
    }

    async fn who_may_not_sign_in_any_more_has_no_session(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let session = Session::new(user.id, LATER);
        store.begin_session(&session).await.unwrap();
        let lock_out = |user: &mut User| {
            user.is_active = false;
            Ok::<_, StoreError>(())
        };
        store.update_user(user.id, lock_out).await.unwrap();
        assert!(store.session(session.id).await.unwrap().unwrap().ended_at.is_some());
        let error = store.begin_session(&Session::new(user.id, LATER)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "user", .. }), "{error:?}");
        // Nor where the password was right when it was compared; an unknown user is no other case.
        for id in [user.id, UserId::random()] {
            let late = Session::new(id, LATER);
            assert_eq!(store.begin_session_by_password(&late, "$argon2id$first").await.unwrap(), None);
            assert_eq!(store.session(late.id).await.unwrap(), None);
        }
    }

    async fn users_are_listed_in_pages_and_found_by_every_filter(database) {
        let store = database.open().await;
        let mut users = Vec::new();
        for name in ["ada", "bob", "a_b", "bobby"] {
            users.push(made(&store, &format!("{name}@example.com")).await);
        }
        let lock_out = |user: &mut User| {
            user.is_active = false;
            Ok::<_, StoreError>(())
        };
        users[3] = store.update_user(users[3].id, lock_out).await.unwrap();
        let base = UserFilter::default();
        let email = |text: &str| UserFilter { email: Some(text.to_owned()), ..base.clone() };
        let page = |page, page_size| UserFilter {
            page: NumberedPage { page, page_size },
            ..base.clone()
        };
        for (filter, expected, total) in [
            (base.clone(), &users[..], 4),
            (email("BOB"), &[users[1].clone(), users[3].clone()], 2),
            (email("_"), &[users[2].clone()], 1),
            (UserFilter { is_active: Some(false), ..base.clone() }, &users[3..], 1),
            (UserFilter { is_active: Some(true), ..email("bob") }, &users[1..2], 1),
            (page(1, 3), &users[..3], 4),
            (page(2, 3), &users[3..], 4),
            (page(3, 3), &[], 4),
            (page(0, 0), &users[..1], 4),
            (page(u32::MAX, u32::MAX), &[], 4),
        ] {
            let (found, count) = store.list_users(&filter).await.unwrap();
            assert_eq!((found.as_slice(), count), (expected, total), "{filter:?}");
        }
    }
}
