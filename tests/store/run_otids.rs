//! Runs are found by the clients' ids of the messages that began them.

use bulkhead_domain::{Conversation, Run, StopReason, id::AgentId};
use bulkhead_store::{RunUpdate, Store};
use futures::future::join_all;

use super::history::{adding, exchange, new_agent, run};

fn otids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Begins a run with these ids, and gives it or the one that was there.
async fn begun(store: &Store, agent: AgentId, names: &[&str]) -> (Run, Option<Run>) {
    let new = run(agent);
    let known = store.create_run_once(&new, &otids(names)).await.unwrap();
    (new, known)
}

on_both! {
    async fn a_request_that_comes_again_has_the_run_that_it_began(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let (first, known) = begun(&store, agent, &["a", "b"]).await;
        assert_eq!(known, None);
        // In whatever order.
        let (second, known) = begun(&store, agent, &["b", "a"]).await;
        assert_eq!(known.as_ref(), Some(&first));
        assert_eq!(store.run(&second.id).await.unwrap(), None, "nothing is stored");
        let found = store.run_of_otids(&agent, None, &otids(&["a", "b"])).await.unwrap();
        assert_eq!(found.as_ref(), Some(&first));
        assert_eq!(store.run_of_otid(&agent, None, "b").await.unwrap(), Some(first));
        for others in [&["a"][..], &["a", "b", "c"], &["c"], &[]] {
            let found = store.run_of_otids(&agent, None, &otids(others)).await.unwrap();
            assert_eq!(found, None, "{others:?}");
            assert_eq!(begun(&store, agent, others).await.1, None, "{others:?}");
        }
    }

    async fn ids_mean_something_in_one_thread_alone(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        let (other, _) = new_agent(&store).await;
        let conversation = Conversation::new(agent);
        store.create_conversation(&conversation, &[]).await.unwrap();
        let id = Some(&conversation.id);
        begun(&store, agent, &["a"]).await;
        assert_eq!(begun(&store, other, &["a"]).await.1, None);
        assert_eq!(store.run_of_otid(&agent, id, "a").await.unwrap(), None);
        let within = Run { conversation_id: Some(conversation.id), ..run(agent) };
        assert_eq!(store.create_run_once(&within, &otids(&["a"])).await.unwrap(), None);
        assert_eq!(store.run_of_otid(&agent, id, "a").await.unwrap(), Some(within));
    }

    async fn of_equal_requests_that_come_at_once_one_begins_a_run(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        for round in 0..6 {
            let name = format!("round {round}");
            // Some of their ids are those of earlier requests.
            let names = [name.as_str(), "z", "a"];
            let names = &names[..1 + round % 3];
            let all = join_all((0..8).map(|_| begun(&store, agent, names))).await;
            let new: Vec<_> = all.iter().filter(|(_, known)| known.is_none()).collect();
            assert_eq!(new.len(), 1, "round {round}");
            for (_, known) in &all {
                let known = known.as_ref().map_or(new[0].0.id, |run| run.id);
                assert_eq!(known, new[0].0.id, "round {round}");
            }
        }
    }

    async fn a_run_that_failed_and_left_nothing_does_not_stand_in_the_way(database) {
        let store = database.open().await;
        let (agent, system) = new_agent(&store).await;
        let (first, _) = begun(&store, agent, &["a"]).await;
        store.finish_run(&RunUpdate::ended(first.id, StopReason::LlmApiError)).await.unwrap();
        assert_eq!(store.run_of_otids(&agent, None, &otids(&["a"])).await.unwrap(), None);
        let (second, known) = begun(&store, agent, &["a"]).await;
        assert_eq!(known, None);
        // Of this one something is stored.
        let mut commit = adding(agent, &[system], exchange(agent, "weather"));
        commit.messages[0].run_id = Some(second.id);
        store.commit_step(&commit).await.unwrap();
        let ended = RunUpdate::ended(second.id, StopReason::LlmApiError);
        let ended = store.finish_run(&ended).await.unwrap();
        assert_eq!(begun(&store, agent, &["a"]).await.1.as_ref(), Some(&ended));
        // Who cancels a run does not want it to begin again.
        let (third, _) = begun(&store, agent, &["b"]).await;
        let ended = RunUpdate::ended(third.id, StopReason::Cancelled);
        let ended = store.finish_run(&ended).await.unwrap();
        assert_eq!(begun(&store, agent, &["b"]).await.1, Some(ended));
    }

    async fn a_later_run_takes_an_id_over_and_a_deleted_one_gives_it_back(database) {
        let store = database.open().await;
        let (agent, _) = new_agent(&store).await;
        begun(&store, agent, &["a"]).await;
        let later = run(agent);
        store.create_run_with_otids(&later, &otids(&["a", "a"])).await.unwrap();
        assert_eq!(store.run_of_otid(&agent, None, "a").await.unwrap().as_ref(), Some(&later));
        store.delete_run(&later.id).await.unwrap();
        assert_eq!(store.run_of_otid(&agent, None, "a").await.unwrap(), None);
        assert_eq!(begun(&store, agent, &["a"]).await.1, None);
        let nobody = run(AgentId::random());
        for error in [
            store.create_run_once(&nobody, &otids(&["a"])).await.unwrap_err(),
            store.create_run_with_otids(&nobody, &otids(&["a"])).await.unwrap_err(),
        ] {
            let is_of_the_agent =
                matches!(error, bulkhead_store::StoreError::NotFound { what: "agent", .. });
            assert!(is_of_the_agent, "{error:?}");
        }
    }
}
