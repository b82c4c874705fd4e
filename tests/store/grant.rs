use bulkhead_domain::{Timestamp, id::GrantId};
use bulkhead_store::{Grant, GrantFilter, StoreError};
use serde_json::json;

on_both! {
    async fn a_grant_reads_back_as_it_was_put_with_and_without_what_is_optional(database) {
        let store = database.open().await;
        let bare = Grant::new("a", json!({ "http": [] }));
        let full = Grant {
            tool: Some("fetch".to_owned()),
            limits: Some(json!({ "fuel": 5 })),
            note: Some("ä 🦀".to_owned()),
            expires_at: Some(Timestamp::from_micros(7)),
            ..Grant::new("a", json!({ "http": ["x"] }))
        };
        for grant in [&bare, &full] {
            store.put_grant(grant).await.unwrap();
            assert_eq!(store.grant(&grant.id).await.unwrap().as_ref(), Some(grant));
        }
        let changed = Grant { note: None, limits: None, ..full };
        store.put_grant(&changed).await.unwrap();
        assert_eq!(store.grant(&changed.id).await.unwrap(), Some(changed));
        assert_eq!(store.grant(&GrantId::random()).await.unwrap(), None);
    }

    async fn grants_are_found_by_component_tool_and_time(database) {
        let store = database.open().await;
        let grant = |component: &str, tool: Option<&str>, expires_at: Option<i64>, at| Grant {
            tool: tool.map(str::to_owned),
            expires_at: expires_at.map(Timestamp::from_micros),
            created_at: Timestamp::from_micros(at),
            ..Grant::new(component, json!({}))
        };
        let all = [
            grant("a", None, None, 1),
            grant("a", Some("x"), None, 2),
            grant("a", Some("y"), Some(10), 3),
            grant("b", Some("x"), None, 4),
        ];
        for grant in &all {
            store.put_grant(grant).await.unwrap();
        }
        let found = async |filter: GrantFilter| {
            let found = store.grants(&filter).await.unwrap();
            found.iter().map(|grant| grant.created_at.micros()).collect::<Vec<_>>()
        };
        let filter = GrantFilter::default();
        assert_eq!(found(filter.clone()).await, [4, 3, 2, 1]);
        let of_a = GrantFilter { component: Some("a".to_owned()), ..filter.clone() };
        assert_eq!(found(of_a.clone()).await, [3, 2, 1]);
        let for_y = GrantFilter { tool: Some("y".to_owned()), ..of_a.clone() };
        assert_eq!(found(for_y.clone()).await, [3, 1], "its own, and those for all tools");
        for (at, expected) in [(9, vec![3, 1]), (10, vec![1])] {
            let valid = GrantFilter { valid_at: Some(Timestamp::from_micros(at)), ..for_y.clone() };
            assert_eq!(found(valid).await, expected);
        }
        let after = GrantFilter { after: Some(all[2].id), limit: Some(1), ..filter };
        assert_eq!(found(after).await, [2]);
    }

    async fn a_revoked_grant_is_gone(database) {
        let store = database.open().await;
        let grant = Grant::new("a", json!({}));
        store.put_grant(&grant).await.unwrap();
        assert!(store.revoke_grant(&grant.id).await.unwrap());
        assert!(!store.revoke_grant(&grant.id).await.unwrap());
        assert_eq!(store.grant(&grant.id).await.unwrap(), None);
    }

    async fn unusable_grants_are_refused(database) {
        let store = database.open().await;
        let nul = Grant { note: Some("a\0".to_owned()), ..Grant::new("a", json!({})) };
        let error = store.put_grant(&nul).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        let long = Grant { note: Some("a".repeat(5000)), ..Grant::new("a", json!({})) };
        let error = store.put_grant(&long).await.unwrap_err();
        assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
        let filter = GrantFilter { component: Some("a\0".to_owned()), ..Default::default() };
        let error = store.grants(&filter).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
    }
}
