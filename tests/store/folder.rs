use bulkhead_domain::{
    FileStatus, Folder, Timestamp,
    folder::{chunk::chunks, view::Lines},
    id::{AgentId, FileId, FolderId},
};
use bulkhead_store::{
    Added, AgentFileFilter, AgentRelations, DuplicateFile, FilePassageFilter, FilePassageSearch,
    FolderAgentsFilter, FolderFileFilter, FolderFilter, NewFile, Paging, Store, StoreError,
};
use serde_json::json;

use super::history::new_agent;

fn folder(name: &str, owner: &str) -> Folder {
    let config = json!({
        "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8,
    });
    let mut folder = Folder::new(name, serde_json::from_value(config).unwrap());
    folder.created_by_id = Some(owner.to_owned());
    folder
}

async fn made(store: &Store, name: &str) -> Folder {
    let folder = folder(name, "ada");
    store.create_folder(&folder).await.unwrap();
    folder
}

fn file(folder: &Folder, name: &str, text: &str) -> NewFile {
    NewFile {
        folder_id: folder.id,
        name: name.to_owned(),
        original_name: name.to_owned(),
        media_type: "text/plain".to_owned(),
        size: text.len() as u64,
        content: Some(text.to_owned()),
        upload: None,
    }
}

async fn added(store: &Store, folder: &Folder, name: &str, text: &str) -> FileId {
    let added = store.add_file(file(folder, name, text), DuplicateFile::Error);
    added.await.unwrap().file.id
}

/// Reads every file that waits, as a server does.
async fn work(store: &Store) -> usize {
    let mut count = 0;
    while let Some(work) = store
        .next_file_work(Timestamp::from_micros(0))
        .await
        .unwrap()
    {
        let text = work.content.unwrap_or_default();
        let pieces = chunks(&text, Some(32));
        assert!(
            store
                .put_file_text(&work.file.id, &text, pieces)
                .await
                .unwrap()
        );
        for agent in store.all_agents_of_folder(&work.folder.id).await.unwrap() {
            store.sync_agent_files(&agent).await.unwrap();
        }
        store.end_file_work(&work.file.id, None).await.unwrap();
        count += 1;
    }
    count
}

/// The names of an agent's files, and of those that are open.
async fn files(store: &Store, agent: &AgentId) -> (Vec<String>, Vec<String>) {
    let filter = |is_open| AgentFileFilter {
        agent_id: *agent,
        is_open,
        paging: Paging {
            ascending: true,
            ..Paging::default()
        },
    };
    let all = store.agent_files(&filter(None)).await.unwrap();
    let open = store.agent_files(&filter(Some(true))).await.unwrap();
    let names =
        |files: Vec<bulkhead_domain::AgentFile>| files.into_iter().map(|file| file.path).collect();
    (names(all), names(open))
}

async fn limited(store: &Store, agent: &AgentId, open: i64, chars: i64) {
    let edit = |agent: &mut bulkhead_domain::Agent| {
        agent.max_files_open = Some(open);
        agent.per_file_view_window_char_limit = Some(chars);
        Ok::<_, StoreError>(())
    };
    store
        .update_agent(agent, edit, &AgentRelations::default())
        .await
        .unwrap();
}

on_both! {
    async fn a_folder_reads_back_changes_and_its_name_is_taken_for_its_creator(database) {
        let store = database.open().await;
        let docs = made(&store, "docs").await;
        assert_eq!(store.folder(&docs.id).await.unwrap().as_ref(), Some(&docs));
        let error = store.create_folder(&folder("docs", "ada")).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "folder", .. }), "{error:?}");
        store.create_folder(&folder("docs", "bob")).await.unwrap();
        let other = made(&store, "other").await;
        let error = store.update_folder(&other.id, |folder| folder.name = "docs".to_owned());
        let error = error.await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { .. }), "{error:?}");
        let changed = store.update_folder(&docs.id, |folder| {
            folder.id = FolderId::random();
            folder.description = Some("mine".to_owned());
        });
        let changed = changed.await.unwrap();
        assert_eq!((changed.id, changed.description.as_deref()), (docs.id, Some("mine")));
        let named = FolderFilter { name: Some("other".to_owned()), ..Default::default() };
        assert_eq!(store.folders(&named).await.unwrap(), [other]);
        assert_eq!(store.count_folders(&FolderFilter::default()).await.unwrap(), 3);
        assert!(store.delete_folder(&docs.id).await.unwrap());
        assert!(!store.delete_folder(&docs.id).await.unwrap());
        let error = store.add_file(file(&docs, "a", ""), DuplicateFile::Skip).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "folder", .. }), "{error:?}");
    }

    async fn a_file_of_a_taken_name_is_numbered_refused_left_or_replaced(database) {
        let store = database.open().await;
        let docs = made(&store, "docs").await;
        let add = async |name: &str, how| store.add_file(file(&docs, name, "text"), how).await;
        let first = add("t.txt", DuplicateFile::Suffix).await.unwrap();
        assert_eq!((first.file.name.as_str(), first.folder_name.as_str()), ("t.txt", "docs"));
        for expected in ["t_(1).txt", "t_(2).txt"] {
            assert_eq!(add("t.txt", DuplicateFile::Suffix).await.unwrap().file.name, expected);
        }
        let error = add("t.txt", DuplicateFile::Error).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "file", .. }), "{error:?}");
        let Added { file: left, is_new, .. } = add("t.txt", DuplicateFile::Skip).await.unwrap();
        assert_eq!((left.id, is_new), (first.file.id, false));
        let replaced = add("t.txt", DuplicateFile::Replace).await.unwrap().file;
        assert_ne!(replaced.id, first.file.id);
        let filter = FolderFileFilter { folder_id: docs.id, with_content: true, paging: Paging::default() };
        let listed = store.folder_files(&filter).await.unwrap();
        let names: Vec<_> = listed.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["t.txt", "t_(2).txt", "t_(1).txt"], "the newest first");
        assert!(listed.iter().all(|file| file.content.as_deref() == Some("text")));
        let one = store.folder_file(&docs.id, &replaced.id, false).await.unwrap().unwrap();
        assert_eq!((one.content, one.status), (None, FileStatus::Pending));
        assert!(store.delete_folder_file(&docs.id, &replaced.id).await.unwrap());
        assert!(!store.delete_folder_file(&docs.id, &replaced.id).await.unwrap());
        let error = add("", DuplicateFile::Skip).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
    }

    async fn a_file_is_read_once_and_again_by_others_where_somebody_left_it(database) {
        let store = database.open().await;
        let docs = made(&store, "docs").await;
        let id = added(&store, &docs, "a.txt", "some words\n").await;
        let never = Timestamp::from_micros(0);
        let all = Timestamp::from_micros(i64::MAX);
        assert_eq!(store.next_file_work(never).await.unwrap().unwrap().file.id, id);
        assert!(store.next_file_work(never).await.unwrap().is_none(), "somebody is at it");
        for _ in 0..2 {
            assert_eq!(store.next_file_work(all).await.unwrap().unwrap().file.id, id);
        }
        // Three times somebody ended over it.
        assert!(store.next_file_work(all).await.unwrap().is_none());
        let file = store.folder_file(&docs.id, &id, false).await.unwrap().unwrap();
        assert_eq!(file.status, FileStatus::Error);
        assert!(file.error.unwrap().contains("each time"));
        let id = added(&store, &docs, "b.txt", "words").await;
        for _ in 0..5 {
            assert!(store.next_file_work(never).await.unwrap().is_some());
            store.put_file_back(&id).await.unwrap();
        }
        assert_eq!(work(&store).await, 1);
        let file = store.folder_file(&docs.id, &id, true).await.unwrap().unwrap();
        assert_eq!((file.status, file.passages), (FileStatus::Completed, Some(1)));
        assert!(!store.put_file_text(&FileId::random(), "a", chunks("a", None)).await.unwrap());
    }

    async fn passages_are_found_by_words_in_the_folders_of_the_agent(database) {
        let store = database.open().await;
        let docs = made(&store, "docs").await;
        let other = made(&store, "other").await;
        let text: String = (0..40).map(|n| format!("line number {n} is dull\n")).collect();
        let id = added(&store, &docs, "a.txt", &format!("{text}a Badger digs\n")).await;
        added(&store, &other, "b.txt", "a badger sleeps").await;
        let (agent, _) = new_agent(&store).await;
        store.attach_folder(&agent, &docs.id, &[]).await.unwrap();
        assert_eq!(work(&store).await, 2);
        let search = |query: &str| FilePassageSearch { agent_id: agent, query: query.to_owned(), limit: None };
        let found = store.search_file_passages(&search("BADGER digs")).await.unwrap();
        assert_eq!(found.len(), 1);
        let (passage, share) = &found[0];
        assert_eq!((passage.path.as_str(), passage.file_id, *share), ("docs/a.txt", id, 1.0));
        assert!(passage.line > 30 && passage.text.contains("Badger"), "{passage:?}");
        let paging = Paging { ascending: true, ..Paging::default() };
        let filter = FilePassageFilter { folder_id: docs.id, file_id: None, paging };
        let all = store.file_passages(&filter).await.unwrap();
        let whole: String = all.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(whole, format!("{text}a Badger digs\n"));
        store.delete_folder_file(&docs.id, &id).await.unwrap();
        assert!(store.file_passages(&filter).await.unwrap().is_empty());
    }

    async fn an_attached_folder_opens_as_many_files_as_may_be_open(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        limited(&store, &agent, 2, 1_000).await;
        let docs = made(&store, "docs").await;
        for name in ["a", "b", "c"] {
            added(&store, &docs, name, "one\ntwo\n").await;
        }
        work(&store).await;
        for _ in 0..2 {
            store.attach_folder(&agent, &docs.id, &[]).await.unwrap();
        }
        let (all, open) = files(&store, &agent).await;
        assert_eq!((all.len(), open), (3, vec!["docs/a".to_owned(), "docs/b".to_owned()]));
        // What comes later comes closed where there is no room.
        added(&store, &docs, "d", "text").await;
        work(&store).await;
        let (all, open) = files(&store, &agent).await;
        assert_eq!((all.len(), open.len()), (4, 2));
        let agents = FolderAgentsFilter { folder_id: docs.id, created_by: None, paging: Paging::default() };
        assert_eq!(store.agents_of_folder(&agents).await.unwrap(), [agent]);
        assert_eq!(store.folders_of(&[agent]).await.unwrap()[&agent], std::slice::from_ref(&docs));
        for (agent, folder) in [(AgentId::random(), docs.id), (agent, FolderId::random())] {
            let error = store.attach_folder(&agent, &folder, &[]).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        }
        assert!(store.detach_folder(&agent, &docs.id, &[]).await.unwrap());
        assert!(!store.detach_folder(&agent, &docs.id, &[]).await.unwrap());
        assert_eq!(files(&store, &agent).await, (Vec::new(), Vec::new()));
        store.attach_folder(&agent, &docs.id, &[]).await.unwrap();
        assert!(store.delete_agent(&agent).await.unwrap());
        assert!(store.delete_folder(&docs.id).await.unwrap());
    }

    async fn the_texts_of_the_files_of_many_agents_are_bounded_together(database) {
        let store = database.open().await;
        let docs = made(&store, "docs").await;
        let text = "a".repeat(3 << 20);
        added(&store, &docs, "large", &text).await;
        work(&store).await;
        let mut agents = Vec::new();
        for _ in 0..3 {
            let (agent, _) = new_agent(&store).await;
            limited(&store, &agent, 2, 4 << 20).await;
            store.attach_folder(&agent, &docs.id, &[]).await.unwrap();
            agents.push(agent);
        }
        let files = store.agent_files_of(&agents).await.unwrap();
        let texts: Vec<bool> = agents
            .iter()
            .map(|agent| files[agent][0].visible.is_some())
            .collect();
        assert_eq!(texts, [true, true, false]);
        assert!(files[&agents[2]][0].is_open);
        let alone = store.agent_files_of(&agents[2..]).await.unwrap();
        assert!(alone[&agents[2]][0].visible.is_some());
    }

    async fn the_least_recently_used_file_is_closed_for_another_one(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        limited(&store, &agent, 2, 1_000).await;
        let docs = made(&store, "docs").await;
        let mut ids = Vec::new();
        for name in ["a", "b", "c"] {
            ids.push(added(&store, &docs, name, "one\ntwo\nthree\n").await);
        }
        store.attach_folder(&agent, &docs.id, &[]).await.unwrap();
        let lines = Lines { first: Some(2), last: Some(2) };
        let again = store.open_file(&agent, &ids[0], lines).await.unwrap();
        assert_eq!((again.previous, again.closed), (Some(Lines::default()), Vec::new()));
        assert_eq!(again.file.visible.as_deref(), Some("[Viewing lines 2 to 2 (out of 3 lines)]\n2: two"));
        let opened = store.open_file(&agent, &ids[2], Lines::default()).await.unwrap();
        assert_eq!((opened.previous, opened.closed), (None, vec!["docs/b".to_owned()]));
        let error = store.open_file(&agent, &ids[1], Lines { first: Some(9), last: None }).await;
        assert!(matches!(error.unwrap_err(), StoreError::Invalid { .. }));
        assert_eq!(files(&store, &agent).await.1, ["docs/a", "docs/c"], "nothing was closed for it");
        let (directories, open) = store.directories(&agent).await.unwrap();
        assert_eq!((open, directories.len(), directories[0].files.len()), (2, 1, 3));
        let found = store.agent_file_named(&agent, "docs/b").await.unwrap().unwrap();
        assert_eq!((found.file_id, found.is_open), (ids[1], false));
        assert_eq!(store.agent_file_named(&agent, "b").await.unwrap(), None);
        assert!(store.close_file(&agent, &ids[2]).await.unwrap());
        assert!(!store.close_file(&agent, &ids[2]).await.unwrap());
        assert_eq!(store.close_files_but(&agent, &[]).await.unwrap(), ["docs/a"]);
        let error = store.open_file(&agent, &FileId::random(), lines).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
        limited(&store, &agent, 2, 47).await;
        let cut = store.open_file(&agent, &ids[0], Lines::default()).await.unwrap();
        let cut = cut.file.visible.unwrap();
        assert!(cut.starts_with("[Viewing file start (out of 3 lines)]\n1: one\n2:...[TRUNCATED]"), "{cut}");
    }

    async fn the_folders_of_an_agent_are_put_with_its_other_relations(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let docs = made(&store, "docs").await;
        let more = made(&store, "more").await;
        added(&store, &docs, "a", "text").await;
        let put = async |folders: Vec<FolderId>| {
            let relations = AgentRelations { folder_ids: Some(folders), ..Default::default() };
            store.update_agent(&agent, |_| Ok::<_, StoreError>(()), &relations).await
        };
        put(vec![docs.id, more.id]).await.unwrap();
        assert_eq!(files(&store, &agent).await.0, ["docs/a"]);
        put(vec![more.id]).await.unwrap();
        assert_eq!(store.folders_of(&[agent]).await.unwrap()[&agent], std::slice::from_ref(&more));
        assert_eq!(files(&store, &agent).await.0, Vec::<String>::new());
        let error = put(vec![FolderId::random()]).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownReferences { what: "folder", .. }), "{error:?}");
        let sizes = store.folder_sizes(&[more.id, docs.id]).await.unwrap();
        let sizes: Vec<_> = sizes.iter().map(|size| (size.id, size.files, size.bytes)).collect();
        assert_eq!(sizes, [(docs.id, 1, 4), (more.id, 0, 0)]);
    }
}
