use bulkhead_domain::{Timestamp, id::ProviderId};
use bulkhead_store::{
    NewProvider, Paging, ProviderChange, ProviderFilter, ProviderKeys, Store, StoreError,
};

use super::raw;

const KEY: &str = "sk-very-secret";

fn new(name: &str) -> NewProvider {
    NewProvider {
        name: name.to_owned(),
        provider_type: "openai".to_owned(),
        base_url: Some("https://api.example.com/v1".to_owned()),
        region: None,
        api_version: None,
        keys: ProviderKeys {
            api_key: KEY.to_owned().into(),
            access_key: None,
        },
    }
}

async fn keys(store: &Store, id: &ProviderId) -> (String, Option<String>) {
    let keys = store.provider_keys(id).await.unwrap().unwrap();
    (
        keys.api_key.to_string(),
        keys.access_key.map(|key| key.to_string()),
    )
}

on_both! {
    async fn a_provider_reads_back_and_its_keys_only_on_purpose(database) {
        let store = database.open().await;
        let provider = store.create_provider(new("mine")).await.unwrap();
        assert_eq!(store.provider(&provider.id).await.unwrap().as_ref(), Some(&provider));
        assert_eq!(keys(&store, &provider.id).await, (KEY.to_owned(), None));
        let printed = format!("{:?} {provider:?}", new("mine"));
        assert!(!printed.contains(KEY), "{printed}");
        let plain = "SELECT COUNT(*) FROM providers WHERE CAST(sealed AS TEXT) LIKE '%secret%'";
        assert_eq!(raw::number(&database, plain).await, 0);

        let change = ProviderChange {
            access_key: Some("second".to_owned().into()),
            base_url: Some("https://other.example.com".to_owned()),
            last_synced: Some(Timestamp::from_micros(5)),
            ..ProviderChange::default()
        };
        let changed = store.update_provider(&provider.id, change).await.unwrap();
        assert_eq!(changed.base_url.as_deref(), Some("https://other.example.com"));
        assert_eq!(changed.last_synced, Some(Timestamp::from_micros(5)));
        assert_eq!(store.provider(&provider.id).await.unwrap(), Some(changed));
        let both = (KEY.to_owned(), Some("second".to_owned()));
        assert_eq!(keys(&store, &provider.id).await, both);

        assert!(store.delete_provider(&provider.id).await.unwrap());
        assert!(!store.delete_provider(&provider.id).await.unwrap());
        assert!(store.provider_keys(&provider.id).await.unwrap().is_none());
        let gone = store.update_provider(&provider.id, ProviderChange::default()).await;
        assert!(matches!(gone, Err(StoreError::NotFound { .. })));
    }

    async fn a_key_is_not_sent_where_another_hand_points_it(database) {
        let store = database.open().await;
        let provider = store.create_provider(new("mine")).await.unwrap();
        database.script("UPDATE providers SET base_url = 'https://evil.example'").await;
        let error = store.provider_keys(&provider.id).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        let change = ProviderChange::default();
        let error = store.update_provider(&provider.id, change).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "nor sealed anew: {error:?}");
    }

    async fn providers_are_found_by_every_filter_and_have_a_name_each(database) {
        let store = database.open().await;
        let mut all = Vec::new();
        for (name, provider_type) in [("a", "openai"), ("b", "anthropic"), ("c", "openai")] {
            let new = NewProvider { provider_type: provider_type.to_owned(), ..new(name) };
            all.push(store.create_provider(new).await.unwrap());
        }
        let error = store.create_provider(new("b")).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { .. }), "{error:?}");
        let text = |text: &str| Some(text.to_owned());
        let base = ProviderFilter::default();
        let first = Paging { ascending: true, limit: Some(1), ..Paging::default() };
        for (filter, expected) in [
            (base.clone(), vec![2, 1, 0]),
            (ProviderFilter { name: text("b"), ..base.clone() }, vec![1]),
            (ProviderFilter { provider_type: text("openai"), ..base.clone() }, vec![2, 0]),
            (ProviderFilter { paging: first, ..base.clone() }, vec![0]),
            (ProviderFilter { name: text("b"), provider_type: text("openai"), ..base.clone() },
                vec![]),
        ] {
            let expected: Vec<_> = expected.iter().map(|index: &usize| &all[*index]).collect();
            let found = store.providers(&filter).await.unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
    }
}
