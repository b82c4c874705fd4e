use bulkhead_domain::{
    Archive, Passage, Timestamp,
    id::{AgentId, ArchiveId, PassageId},
};
use bulkhead_store::{
    ArchiveAgentsFilter, ArchiveFilter, Paging, PassageFilter, PassageSearch, Store, StoreError,
    passage::{TEXT_MAX, VECTOR_MAX},
};
use serde_json::json;

use super::history::new_agent;

async fn archive(store: &Store, name: &str) -> Archive {
    let archive = Archive::new(name);
    store.create_archive(&archive).await.unwrap();
    archive
}

fn passage(archive: &Archive, text: &str, tags: &[&str], at: i64) -> Passage {
    let mut passage = Passage::new(archive.id, text);
    passage.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    passage.created_at = Timestamp::from_micros(at);
    passage
}

on_both! {
    async fn an_archive_reads_back_changes_and_goes_with_its_passages(database) {
        let store = database.open().await;
        let mut notes = Archive::new("notes");
        notes.metadata = Some(json!({"a": 1}));
        store.create_archive(&notes).await.unwrap();
        assert_eq!(store.archive(&notes.id).await.unwrap().as_ref(), Some(&notes));
        let changed = store.update_archive(&notes.id, |archive| {
            archive.id = ArchiveId::random();
            archive.description = Some("mine".to_owned());
        });
        let changed = changed.await.unwrap();
        assert_eq!((changed.id, changed.description.as_deref()), (notes.id, Some("mine")));
        assert_eq!(store.archive(&notes.id).await.unwrap(), Some(changed));
        let text = passage(&notes, "a text", &["t"], 1);
        store.insert_passages(std::slice::from_ref(&text)).await.unwrap();
        assert!(store.delete_archive(&notes.id).await.unwrap());
        assert!(!store.delete_archive(&notes.id).await.unwrap());
        assert_eq!(store.passage(&text.id).await.unwrap(), None);
        let error = store.insert_passages(&[text]).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "archive", .. }), "{error:?}");
        let error = store.update_archive(&notes.id, |_| {}).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        let error = store.create_archive(&Archive::new("")).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
    }

    async fn an_agent_has_one_archive_and_an_archive_many_agents(database) {
        let store = database.open().await;
        let (first, _) = new_agent(&store).await;
        let (second, _) = new_agent(&store).await;
        let shared = archive(&store, "shared").await;
        let other = archive(&store, "other").await;
        for agent in [first, second, first] {
            store.attach_archive(&agent, &shared.id).await.unwrap();
        }
        let error = store.attach_archive(&first, &other.id).await.unwrap_err();
        let StoreError::AlreadyHas { id, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*id, shared.id.to_string());
        for (agent, archive) in [(AgentId::random(), shared.id), (first, ArchiveId::random())] {
            let error = store.attach_archive(&agent, &archive).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
        let mut agents = ArchiveAgentsFilter { archive_id: shared.id, created_by: None, paging: Paging::default() };
        assert_eq!(store.agents_of_archive(&agents).await.unwrap(), [second, first]);
        agents.paging.after = Some(second.to_string());
        assert_eq!(store.agents_of_archive(&agents).await.unwrap(), [first]);

        let by_name = ArchiveFilter { name: Some("other".to_owned()), ..Default::default() };
        assert_eq!(store.archives(&by_name).await.unwrap(), std::slice::from_ref(&other));
        let by_agent = ArchiveFilter { agent_id: Some(first), ..Default::default() };
        assert_eq!(store.archives(&by_agent).await.unwrap(), std::slice::from_ref(&shared));
        let all = store.archives(&ArchiveFilter::default()).await.unwrap();
        assert_eq!(all, [other.clone(), shared.clone()], "the newest first");

        assert!(store.detach_archive(&first, &shared.id).await.unwrap());
        assert!(!store.detach_archive(&first, &shared.id).await.unwrap());
        assert_eq!(store.archive_of_agent(&first).await.unwrap(), None);
        store.attach_archive(&first, &other.id).await.unwrap();
        assert_eq!(store.archive_of_agent(&first).await.unwrap(), Some(other));
        store.delete_agent(&second).await.unwrap();
        assert!(store.archive(&shared.id).await.unwrap().is_some(), "an archive outlives agents");
    }

    async fn an_agent_gets_one_default_archive_whoever_asks_first(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let tasks: Vec<_> = (0..8)
            .map(|number| {
                let (store, new) = (store.clone(), Archive::new(format!("archive {number}")));
                tokio::spawn(async move { store.default_archive(&agent, &new).await.unwrap() })
            })
            .collect();
        let mut given = Vec::new();
        for task in tasks {
            given.push(task.await.unwrap());
        }
        assert!(given.windows(2).all(|two| two[0] == two[1]));
        let all = store.archives(&ArchiveFilter::default()).await.unwrap();
        assert_eq!(all, given[..1], "no other was left");
        let nobody = store.default_archive(&AgentId::random(), &Archive::new("x")).await;
        assert!(matches!(nobody, Err(StoreError::NotFound { .. })));
    }

    async fn passages_are_listed_counted_and_deleted(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let notes = archive(&store, "notes").await;
        let other = archive(&store, "other").await;
        store.attach_archive(&agent, &notes.id).await.unwrap();
        let mut vector = passage(&notes, "Straße\0", &["b", "a"], 3);
        vector.embedding = Some(vec![0.5, -1.25, f32::MIN_POSITIVE]);
        vector.metadata = Some(json!({"k": [1, 2]}));
        let mut all = vec![
            passage(&notes, "later in time, first in the table", &[], 9), vector,
            passage(&notes, "third", &["a"], 3), passage(&other, "elsewhere", &["c"], 1),
        ];
        let refused = store.insert_passages(&all).await.unwrap_err();
        assert!(matches!(refused, StoreError::Invalid { .. }), "NUL: {refused:?}");
        all[1].text = "Straße".to_owned();
        store.insert_passages(&all).await.unwrap();
        for passage in &all {
            assert_eq!(store.passage(&passage.id).await.unwrap().as_ref(), Some(passage));
        }
        let oldest = Paging { ascending: true, ..Paging::default() };
        let base = PassageFilter { paging: oldest, ..Default::default() };
        let mine = PassageFilter { agent_id: Some(agent), ..base.clone() };
        let mut after = mine.clone();
        after.paging.after = Some(all[1].id.to_string());
        let mut before = mine.clone();
        before.paging.before = Some(all[0].id.to_string());
        before.paging.limit = Some(1);
        for (filter, expected) in [
            (base.clone(), vec![3, 1, 2, 0]),
            (mine.clone(), vec![1, 2, 0]),
            (PassageFilter { archive_id: Some(other.id), ..base.clone() }, vec![3]),
            (PassageFilter { search: Some("STRASS".to_owned()), ..mine.clone() }, vec![]),
            (PassageFilter { search: Some("STRAß".to_owned()), ..mine.clone() }, vec![1]),
            (after, vec![2, 0]),
            (before, vec![2]),
        ] {
            let found = store.passages(&filter).await.unwrap();
            let expected: Vec<_> = expected.iter().map(|index: &usize| &all[*index]).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
        assert_eq!(store.count_passages(&mine).await.unwrap(), 3);
        assert_eq!(store.passage_tags(&notes.id).await.unwrap(), ["a", "b"]);
        assert!(!store.delete_passage(&other.id, &all[1].id).await.unwrap());
        assert!(store.delete_passage(&notes.id, &all[1].id).await.unwrap());
        assert_eq!(store.passage(&all[1].id).await.unwrap(), None);
        assert_eq!(store.passage_tags(&notes.id).await.unwrap(), ["a"]);
        assert_eq!(store.passage(&PassageId::random()).await.unwrap(), None);
        let mut vast = passage(&notes, "x", &[], 1);
        vast.embedding = Some(vec![0.0; VECTOR_MAX + 1]);
        for passage in [passage(&notes, &"x".repeat(TEXT_MAX + 1), &[], 1), vast] {
            let error = store.insert_passages(&[passage]).await.unwrap_err();
            assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
        }
    }

    async fn a_search_of_passages_goes_by_words_tags_and_time(database) {
        let store = database.open().await;
        let notes = archive(&store, "notes").await;
        let other = archive(&store, "other").await;
        let all = [
            passage(&notes, "red apple", &["fruit", "red"], 1),
            passage(&notes, "green apple", &["fruit"], 2),
            passage(&notes, "red car", &["red"], 3),
            passage(&other, "a red apple again", &["fruit"], 4),
        ];
        store.insert_passages(&all).await.unwrap();
        let base = PassageSearch {
            archive_ids: Some(vec![notes.id]), query: Some("RED apple".to_owned()),
            ..Default::default()
        };
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let time = |micros| Some(Timestamp::from_micros(micros));
        for (search, expected) in [
            (base.clone(), vec![(0, 1.0), (2, 0.5), (1, 0.5)]),
            (PassageSearch { archive_ids: None, ..base.clone() },
                vec![(3, 1.0), (0, 1.0), (2, 0.5), (1, 0.5)]),
            (PassageSearch { archive_ids: Some(vec![]), ..base.clone() }, vec![]),
            (PassageSearch { query: None, ..base.clone() }, vec![(2, 1.0), (1, 1.0), (0, 1.0)]),
            (PassageSearch { tags: tags(&["fruit", "none"]), ..base.clone() },
                vec![(0, 1.0), (1, 0.5)]),
            (PassageSearch {
                tags: tags(&["fruit", "red", "red"]), match_all_tags: true, ..base.clone()
            }, vec![(0, 1.0)]),
            (PassageSearch { since: time(2), until: time(3), ..base.clone() }, vec![(1, 0.5)]),
            (PassageSearch { limit: Some(2), ..base.clone() }, vec![(0, 1.0), (2, 0.5)]),
        ] {
            let found = store.search_passages(&search).await.unwrap();
            let expected: Vec<_> =
                expected.into_iter().map(|(index, share): (usize, f64)| {
                    (all[index].clone(), share)
                }).collect();
            assert_eq!(found, expected, "{search:?}");
        }
    }
}
