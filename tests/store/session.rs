use std::time::Duration;

use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId, User, UserId},
};
use bulkhead_store::{Rotation, StoreError, session::LIVING_MAX};

use super::user::{LATER, made};

/// A sign-in that goes on for so long is of no test.
const LONG: Duration = Duration::from_secs(1 << 40);

fn after(at: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(at.micros() + micros)
}

on_both! {
    async fn a_refresh_token_is_used_once_and_a_second_use_ends_its_family(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let session = Session::new(user.id, after(Timestamp::now(), 1_000_000_000));
        store.begin_session(&session).await.unwrap();
        assert_eq!(store.session(session.id).await.unwrap().as_ref(), Some(&session));
        let now = after(session.created_at, 5);
        let rotated = Session {
            generation: 1,
            refreshed_at: now,
            expires_at: LATER,
            ..session.clone()
        };
        let rotate = |generation, now| store.rotate_session((session.id, generation), now, LATER, LONG);
        assert_eq!(rotate(0, now).await.unwrap(), Rotation::Rotated(rotated.clone()));
        assert_eq!(store.session(session.id).await.unwrap(), Some(rotated));
        let Rotation::Rotated(second) = rotate(1, now).await.unwrap() else { panic!() };
        assert_eq!(second.generation, 2);
        // The thief, or whoever was robbed.
        assert_eq!(rotate(1, now).await.unwrap(), Rotation::Reused);
        for generation in [0, 1, 2, 3] {
            assert_eq!(rotate(generation, now).await.unwrap(), Rotation::Ended, "{generation}");
        }
        let ended = store.session(session.id).await.unwrap().unwrap();
        assert_eq!(ended.ended_at, Some(now));
        let unknown = store.rotate_session((SessionId::random(), 0), now, LATER, LONG).await.unwrap();
        assert_eq!(unknown, Rotation::Unknown);
    }

    async fn of_two_uses_at_once_one_wins_and_the_family_ends(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        for _ in 0..8 {
            let session = Session::new(user.id, LATER);
            store.begin_session(&session).await.unwrap();
            let uses = (0..4).map(|_| {
                let (store, id) = (store.clone(), session.id);
                tokio::spawn(async move {
                    store.rotate_session((id, 0), Timestamp::now(), LATER, LONG).await.unwrap()
                })
            });
            let uses: Vec<_> = uses.collect();
            let mut won = 0;
            let mut reused = 0;
            for used in uses {
                match used.await.unwrap() {
                    Rotation::Rotated(_) => won += 1,
                    Rotation::Reused => reused += 1,
                    Rotation::Ended => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!((won, reused), (1, 1));
            let session = store.session(session.id).await.unwrap().unwrap();
            assert!(session.ended_at.is_some());
        }
    }

    async fn a_token_that_comes_too_late_or_of_who_is_locked_out_is_refused(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let sessions = [Session::new(user.id, LATER), Session::new(user.id, LATER)];
        for session in &sessions {
            store.begin_session(session).await.unwrap();
        }
        let late = after(LATER, 0);
        let rotation = store.rotate_session((sessions[0].id, 0), late, late, LONG).await.unwrap();
        assert_eq!(rotation, Rotation::Expired);
        assert!(store.end_session(sessions[1].id).await.unwrap());
        assert!(!store.end_session(sessions[1].id).await.unwrap());
        assert!(!store.end_session(SessionId::random()).await.unwrap());
        let now = Timestamp::now();
        let rotation = store.rotate_session((sessions[1].id, 0), now, LATER, LONG).await.unwrap();
        assert_eq!(rotation, Rotation::Ended);
        let lock_out = |user: &mut User| {
            user.is_active = false;
            Ok::<_, StoreError>(())
        };
        store.update_user(user.id, lock_out).await.unwrap();
        let rotation = store.rotate_session((sessions[0].id, 0), now, LATER, LONG).await.unwrap();
        assert_eq!(rotation, Rotation::Ended);
    }

    async fn a_sign_in_ends_however_often_it_is_renewed(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let session = Session::new(user.id, LATER);
        store.begin_session(&session).await.unwrap();
        let longest = Duration::from_secs(100);
        let end = after(session.created_at, 100_000_000);
        let renew = |generation, at| store.rotate_session((session.id, generation), at, LATER, longest);
        let Rotation::Rotated(renewed) = renew(0, after(session.created_at, 5)).await.unwrap() else { panic!() };
        assert_eq!(renewed.expires_at, end, "it does not slide beyond that");
        let Rotation::Rotated(last) = renew(1, after(end, -1)).await.unwrap() else { panic!() };
        assert_eq!((last.expires_at, last.generation), (end, 2));
        assert_eq!(renew(2, end).await.unwrap(), Rotation::Expired);
        // One that was renewed before there was such an end has it too.
        let older = Session::new(user.id, LATER);
        store.begin_session(&older).await.unwrap();
        let late = store.rotate_session((older.id, 0), after(older.created_at, 100_000_000), LATER, longest);
        assert_eq!(late.await.unwrap(), Rotation::Expired);
    }

    async fn a_password_that_was_changed_meanwhile_begins_no_session(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let session = Session::new(user.id, LATER);
        let begin = |hash| store.begin_session_by_password(&session, hash);
        assert_eq!(begin("$argon2id$other").await.unwrap(), None);
        store.set_password(user.id, "$argon2id$second", None).await.unwrap();
        assert_eq!(begin("$argon2id$first").await.unwrap(), None);
        assert_eq!(store.session(session.id).await.unwrap(), None);
        assert_eq!(begin("$argon2id$second").await.unwrap(), Some(0));
        assert_eq!(store.session(session.id).await.unwrap().as_ref(), Some(&session));
        let nobody = Session::new(UserId::random(), LATER);
        assert_eq!(store.begin_session_by_password(&nobody, "hash").await.unwrap(), None);
    }

    async fn the_oldest_session_ends_where_one_too_many_begins(database) {
        let store = database.open().await;
        let (ada, bob) = (made(&store, "a@example.com").await, made(&store, "b@example.com").await);
        let other = Session::new(bob.id, LATER);
        store.begin_session(&other).await.unwrap();
        let mut sessions = Vec::new();
        for _ in 0..LIVING_MAX + 2 {
            let session = Session::new(ada.id, LATER);
            store.begin_session(&session).await.unwrap();
            sessions.push(session.id);
        }
        for (place, id) in sessions.iter().enumerate() {
            let session = store.session(*id).await.unwrap().unwrap();
            assert_eq!(session.ended_at.is_some(), place < 2, "{place}");
        }
        let ended = store.end_sessions(ada.id).await.unwrap();
        assert_eq!(ended, LIVING_MAX.unsigned_abs());
        assert_eq!(store.end_sessions(ada.id).await.unwrap(), 0);
        assert!(store.session(other.id).await.unwrap().unwrap().ended_at.is_none());
        let nobody = Session::new(UserId::random(), LATER);
        let error = store.begin_session(&nobody).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "user", .. }), "{error:?}");
    }

    async fn sessions_that_ended_or_ran_out_long_ago_are_forgotten(database) {
        let store = database.open().await;
        let user = made(&store, "a@example.com").await;
        let at = Timestamp::from_micros;
        let ran_out = Session::new(user.id, at(1_000));
        let runs_out_later = Session::new(user.id, at(2_000));
        let ended = Session { ended_at: Some(at(500)), ..Session::new(user.id, LATER) };
        let living = Session::new(user.id, LATER);
        for session in [&ran_out, &runs_out_later, &ended, &living] {
            store.begin_session(session).await.unwrap();
        }
        assert_eq!(store.forget_sessions(at(1_001)).await.unwrap(), 2);
        assert_eq!(store.forget_sessions(at(1_001)).await.unwrap(), 0);
        for (session, is_there) in
            [(&ran_out, false), (&runs_out_later, true), (&ended, false), (&living, true)]
        {
            assert_eq!(store.session(session.id).await.unwrap().is_some(), is_there);
        }
    }
}
