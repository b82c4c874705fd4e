use bulkhead_domain::{
    Group, Manager, ManagerType, Message, RunStatus, StopReason,
    id::{AgentId, BlockId, GroupId, MessageId},
};
use bulkhead_store::{
    AgentRelations, Committed, GroupFilter, GroupRelations, NewAgent, NewSleeptime, Paging,
    RunUpdate, Store, StoreError,
};
use futures::future::join_all;

use super::{
    agent::{agent, made as made_agent},
    block::{self, block},
    history::{adding, exchange, new_agent, run},
    raw,
};

fn led(manager_agent_id: AgentId, sleeptime_agent_frequency: Option<i64>) -> Manager {
    Manager::Sleeptime {
        manager_agent_id,
        sleeptime_agent_frequency,
    }
}

/// What looks after the memory of an agent.
fn sleeptime(main: AgentId, frequency: Option<i64>) -> Box<NewSleeptime> {
    let mut new = NewAgent::new(agent("main-sleeptime"));
    new.new_blocks
        .push(block("memory_persona", "I look after it."));
    Box::new(NewSleeptime {
        agent: new,
        group: Group::new("a pair", led(main, frequency)),
    })
}

/// An agent with a block and another one that looks after its memory: both, and the block.
async fn pair(store: &Store, frequency: Option<i64>) -> (AgentId, AgentId, BlockId) {
    let human = block::made(store, "human", "Bob").await.id;
    let mut new = NewAgent::new(agent("main"));
    let main = new.agent.id;
    new.block_ids.push(human);
    let pair = sleeptime(main, frequency);
    let other = pair.agent.agent.id;
    new.sleeptime = Some(pair);
    store.create_agent(&new).await.unwrap();
    (main, other, human)
}

async fn labels(store: &Store, agent: AgentId) -> Vec<String> {
    let blocks = store.blocks_of(&[agent]).await.unwrap().remove(&agent);
    blocks
        .unwrap()
        .into_iter()
        .map(|block| block.label)
        .collect()
}

async fn group_of(store: &Store, agent: AgentId) -> Option<Group> {
    store.managed_groups(&[agent]).await.unwrap().remove(&agent)
}

/// A request to an agent that ends for this reason.
async fn request(store: &Store, main: AgentId, reason: StopReason) -> (Committed, Vec<Message>) {
    let run = run(main);
    store.create_run(&run).await.unwrap();
    let context = store.agent(&main).await.unwrap().unwrap().message_ids;
    let messages = exchange(main, "weather");
    let mut commit = adding(main, &context, messages.clone());
    commit.run = Some(RunUpdate::ended(run.id, reason));
    commit.sleeptime = Some(super::history::run(main));
    (store.commit_step(&commit).await.unwrap(), messages)
}

on_both! {
    async fn a_group_of_every_kind_reads_back_with_what_belongs_to_it(database) {
        let store = database.open().await;
        let agents = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let notes = block::made(&store, "notes", "").await.id;
        let lead = agents[0];
        for manager in [
            Manager::RoundRobin { max_turns: Some(3) },
            Manager::Supervisor { manager_agent_id: lead },
            Manager::Dynamic {
                manager_agent_id: lead,
                termination_token: Some("DONE!".to_owned()),
                max_turns: None,
            },
            led(lead, Some(5)),
            Manager::VoiceSleeptime {
                manager_agent_id: lead,
                max_message_buffer_length: Some(30),
                min_message_buffer_length: Some(15),
            },
        ] {
            let group = Group {
                agent_ids: vec![agents[1], agents[0]],
                shared_block_ids: vec![notes],
                project_id: Some("project".to_owned()),
                hidden: Some(false),
                ..Group::new("They talk 🦀", manager)
            };
            store.create_group(&group).await.unwrap();
            assert_eq!(store.group(&group.id).await.unwrap(), Some(group));
        }
        assert_eq!(store.group(&GroupId::random()).await.unwrap(), None);
    }

    async fn a_group_names_nobody_who_is_not_there_and_not_too_many(database) {
        let store = database.open().await;
        let a = made_agent(&store, "a").await.id;
        let round = |agent_ids| Group {
            agent_ids,
            ..Group::new("", Manager::RoundRobin { max_turns: None })
        };
        let nobody = AgentId::random();
        let led = Group::new("", Manager::Supervisor { manager_agent_id: nobody });
        let blocks = Group { shared_block_ids: vec![BlockId::random()], ..round(vec![a]) };
        for (group, expected) in [(round(vec![a, nobody]), "agent"), (led, "agent"), (blocks, "block")] {
            let refused = store.create_group(&group).await.unwrap_err();
            let is_unknown =
                matches!(&refused, StoreError::UnknownReferences { what, .. } if *what == expected);
            assert!(is_unknown, "{refused}");
            assert_eq!(store.group(&group.id).await.unwrap(), None);
        }
        let many = (0..=bulkhead_store::group::MEMBERS_MAX).map(|_| AgentId::random()).collect();
        let refused = store.create_group(&round(many)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Quota { .. }), "{refused}");
    }

    async fn a_group_changes_as_a_whole_or_not_at_all(database) {
        let store = database.open().await;
        let [a, b] = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let group = Group { agent_ids: vec![a], ..Group::new("one", led(a, Some(5))) };
        store.create_group(&group).await.unwrap();
        let relations = GroupRelations { agent_ids: Some(vec![b, a]), ..Default::default() };
        let edit = |group: &mut Group| {
            "two".clone_into(&mut group.description);
            group.manager = led(b, Some(2));
            Ok::<_, StoreError>(())
        };
        let changed = store.update_group(&group.id, edit, &relations).await.unwrap();
        assert_eq!((changed.description.as_str(), &changed.manager), ("two", &led(b, Some(2))));
        assert_eq!(changed.agent_ids, [b, a]);
        assert_eq!(store.group(&group.id).await.unwrap(), Some(changed.clone()));

        let relations = GroupRelations {
            agent_ids: Some(vec![AgentId::random()]),
            ..Default::default()
        };
        let rename = |group: &mut Group| {
            "three".clone_into(&mut group.description);
            Ok::<_, StoreError>(())
        };
        let refused = store.update_group(&group.id, rename, &relations).await.unwrap_err();
        assert!(matches!(refused, StoreError::UnknownReferences { .. }), "{refused}");
        let away = |group: &mut Group| {
            group.manager = led(AgentId::random(), None);
            Ok::<_, StoreError>(())
        };
        let none = GroupRelations::default();
        let refused = store.update_group(&group.id, away, &none).await.unwrap_err();
        assert!(matches!(refused, StoreError::UnknownReferences { .. }), "{refused}");
        assert_eq!(store.group(&group.id).await.unwrap(), Some(changed));
        let missing = store.update_group(&GroupId::random(), rename, &none).await.unwrap_err();
        assert!(matches!(missing, StoreError::NotFound { what: "group", .. }), "{missing}");
        assert!(store.delete_group(&group.id).await.unwrap());
        assert!(!store.delete_group(&group.id).await.unwrap());
        assert!(store.agent(&a).await.unwrap().is_some());
    }

    async fn groups_are_listed_by_kind_and_by_agent_page_by_page(database) {
        let store = database.open().await;
        let [a, b] = [made_agent(&store, "a").await.id, made_agent(&store, "b").await.id];
        let round = || Manager::RoundRobin { max_turns: None };
        let mut ids = Vec::new();
        for (agents, manager) in [
            (vec![a], round()),
            (vec![b], led(a, None)),
            (vec![b], round()),
            (vec![], Manager::Supervisor { manager_agent_id: b }),
        ] {
            let group = Group { agent_ids: agents, ..Group::new("", manager) };
            store.create_group(&group).await.unwrap();
            ids.push(group.id);
        }
        let hidden = Group { hidden: Some(true), ..Group::new("", led(b, None)) };
        store.create_group(&hidden).await.unwrap();
        let listed = async |filter: GroupFilter| {
            let paging = Paging { ascending: true, ..filter.paging };
            let groups = store.groups(&GroupFilter { paging, ..filter }).await.unwrap();
            groups.into_iter().map(|group| group.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(GroupFilter::default()).await, ids);
        let of_kind = |kind| GroupFilter { manager_type: Some(kind), ..Default::default() };
        assert_eq!(listed(of_kind(ManagerType::RoundRobin)).await, [ids[0], ids[2]]);
        assert!(listed(of_kind(ManagerType::Swarm)).await.is_empty());
        let of = |agent| GroupFilter {
            agent_id: Some(agent),
            show_hidden: true,
            ..Default::default()
        };
        assert_eq!(listed(of(a)).await, [ids[0], ids[1]]);
        assert_eq!(listed(of(b)).await, [ids[1], ids[2], ids[3], hidden.id]);
        let paging = Paging { after: Some(ids[1].to_string()), limit: Some(1), ..Default::default() };
        assert_eq!(listed(GroupFilter { paging, ..Default::default() }).await, [ids[2]]);
        assert_eq!(store.count_groups(&GroupFilter::default()).await.unwrap(), 4);
        // That of those that look after its memory comes before others.
        assert_eq!(group_of(&store, b).await.map(|group| group.id), Some(hidden.id));
        assert_eq!(group_of(&store, a).await.map(|group| group.id), Some(ids[1]));
    }

    async fn an_agent_and_what_looks_after_its_memory_are_made_together_or_not_at_all(database) {
        let store = database.open().await;
        let (main, other, _) = pair(&store, Some(5)).await;
        let group = group_of(&store, main).await.unwrap();
        assert_eq!((group.agent_ids.as_slice(), group.turns_counter), (&[other][..], Some(-1)));
        assert_eq!(labels(&store, main).await, ["human"]);
        assert_eq!(labels(&store, other).await, ["memory_persona", "human"]);
        assert_eq!(store.sleeptime_agents_of(&main).await.unwrap(), [other]);
        assert!(store.sleeptime_agents_of(&other).await.unwrap().is_empty());

        let mut new = NewAgent::new(agent("second"));
        let mut broken = sleeptime(new.agent.id, None);
        broken.agent.tool_ids.push("tool-nobody".to_owned());
        new.sleeptime = Some(broken);
        store.create_agent(&new).await.unwrap_err();
        assert!(store.agent(&new.agent.id).await.unwrap().is_none());
        let foreign = sleeptime(main, None);
        new.sleeptime = Some(foreign);
        let refused = store.create_agent(&new).await.unwrap_err();
        assert!(matches!(refused, StoreError::Invalid { what: "the group", .. }), "{refused}");
        assert!(store.agent(&new.agent.id).await.unwrap().is_none());
    }

    async fn what_looks_after_an_agents_memory_comes_later_too_and_once(database) {
        let store = database.open().await;
        let human = block::made(&store, "human", "Bob").await.id;
        let mut new = NewAgent::new(agent("main"));
        let main = new.agent.id;
        new.block_ids.push(human);
        store.create_agent(&new).await.unwrap();
        let enable = |pair| AgentRelations { sleeptime: Some(pair), ..Default::default() };
        let same = |_: &mut _| Ok::<_, StoreError>(());
        let first = sleeptime(main, Some(5));
        let other = first.agent.agent.id;
        let second = sleeptime(main, Some(5));
        let unused = second.agent.agent.id;
        for pair in [first, second] {
            store.update_agent(&main, same, &enable(pair)).await.unwrap();
        }
        assert_eq!(store.sleeptime_agents_of(&main).await.unwrap(), [other]);
        assert!(store.agent(&unused).await.unwrap().is_none());
        assert_eq!(labels(&store, other).await, ["memory_persona", "human"]);
        // A group that nobody is in any more gets somebody again, and stays as it was.
        let group = group_of(&store, main).await.unwrap();
        assert!(store.delete_agent(&other).await.unwrap());
        let third = sleeptime(main, Some(7));
        let other = third.agent.agent.id;
        store.update_agent(&main, same, &enable(third)).await.unwrap();
        let now = group_of(&store, main).await.unwrap();
        assert_eq!((now.id, now.manager, now.agent_ids), (group.id, group.manager, vec![other]));
    }

    async fn what_looks_after_an_agents_memory_has_its_blocks_whatever_becomes_of_them(database) {
        let store = database.open().await;
        let (main, other, human) = pair(&store, Some(5)).await;
        let notes = block::made(&store, "notes", "").await.id;
        assert!(store.attach_block(&main, &notes).await.unwrap());
        store.create_block_for(&main, &block("tasks", "")).await.unwrap();
        assert_eq!(labels(&store, other).await, ["memory_persona", "human", "notes", "tasks"]);
        assert!(store.detach_block(&main, &human).await.unwrap());
        assert_eq!(labels(&store, other).await, ["memory_persona", "notes", "tasks"]);
        let relations = AgentRelations { block_ids: Some(vec![human, notes]), ..Default::default() };
        let same = |_: &mut _| Ok::<_, StoreError>(());
        store.update_agent(&main, same, &relations).await.unwrap();
        assert_eq!(labels(&store, main).await, ["human", "notes"]);
        assert_eq!(labels(&store, other).await, ["memory_persona", "notes", "human"]);
        // It keeps what is its own, and nobody else's blocks follow.
        let own = block::made(&store, "own", "").await.id;
        assert!(store.attach_block(&other, &own).await.unwrap());
        assert_eq!(labels(&store, main).await, ["human", "notes"]);
        // A label that it has for itself can't come twice.
        let taken = block::made(&store, "own", "").await.id;
        let refused = store.attach_block(&main, &taken).await.unwrap_err();
        assert!(matches!(refused, StoreError::NameTaken { .. }), "{refused}");
        assert_eq!(labels(&store, main).await, ["human", "notes"]);
    }

    async fn what_looks_after_an_agents_memory_goes_with_it_and_not_before(database) {
        let store = database.open().await;
        let (main, other, human) = pair(&store, Some(5)).await;
        let group = group_of(&store, main).await.unwrap().id;
        // Somebody who is in the group and was not made for it stays.
        let guest = made_agent(&store, "guest").await.id;
        let relations = GroupRelations {
            agent_ids: Some(vec![other, guest]),
            ..Default::default()
        };
        let same = |_: &mut _| Ok::<_, StoreError>(());
        store.update_group(&group, same, &relations).await.unwrap();
        assert!(store.delete_agent(&main).await.unwrap());
        assert!(!store.delete_agent(&main).await.unwrap());
        assert!(store.agent(&other).await.unwrap().is_none());
        assert!(store.agent(&guest).await.unwrap().is_some());
        assert!(store.group(&group).await.unwrap().is_none());
        assert!(store.block(&human).await.unwrap().is_some());

        let (main, other, _) = pair(&store, Some(5)).await;
        assert!(store.delete_agent(&other).await.unwrap());
        assert!(store.agent(&main).await.unwrap().is_some());
        assert!(group_of(&store, main).await.unwrap().agent_ids.is_empty());
    }

    async fn every_so_many_requests_those_that_look_after_the_memory_get_a_run(database) {
        let store = database.open().await;
        let (main, other, _) = pair(&store, Some(3)).await;
        let mut last: Option<MessageId> = None;
        for number in 0..7_i64 {
            let (committed, messages) = request(&store, main, StopReason::EndTurn).await;
            let group = group_of(&store, main).await.unwrap();
            assert_eq!(group.turns_counter, Some(number % 3));
            let Some(turn) = committed.sleeptime else {
                assert_ne!(number % 3, 0);
                assert_eq!(group.last_processed_message_id, last);
                continue;
            };
            assert_eq!(number % 3, 0);
            let newest = messages.last().map(|message| message.id);
            assert_eq!((turn.after, turn.until), (last, newest));
            assert_eq!(group.last_processed_message_id, newest);
            last = newest;
            let [run] = turn.runs.as_slice() else { panic!("{turn:?}") };
            assert_eq!(run.agent_id, other);
            assert_eq!(store.run(&run.id).await.unwrap().as_ref(), Some(run));
        }
    }

    async fn a_request_that_did_not_complete_counts_for_nothing(database) {
        let store = database.open().await;
        let (main, _, _) = pair(&store, None).await;
        for reason in [StopReason::Cancelled, StopReason::Error] {
            let (committed, _) = request(&store, main, reason).await;
            assert!(committed.sleeptime.is_none(), "{reason:?}");
        }
        // Nor does one that was cancelled before its end was stored.
        let run = run(main);
        store.create_run(&run).await.unwrap();
        let cancel = RunUpdate::ended(run.id, StopReason::Cancelled);
        store.finish_run(&cancel).await.unwrap();
        let context = store.agent(&main).await.unwrap().unwrap().message_ids;
        let mut commit = adding(main, &context, Vec::new());
        commit.run = Some(RunUpdate::ended(run.id, StopReason::EndTurn));
        commit.sleeptime = Some(super::history::run(main));
        let committed = store.commit_step(&commit).await.unwrap();
        assert_eq!(committed.run.unwrap().status, RunStatus::Cancelled);
        assert!(committed.sleeptime.is_none());
        assert!(request(&store, main, StopReason::EndTurn).await.0.sleeptime.is_some());
    }

    async fn nobody_gets_a_run_who_takes_no_messages(database) {
        let store = database.open().await;
        let (main, other, _) = pair(&store, None).await;
        let pause = format!(
            "UPDATE agents SET standing = 'paused' WHERE id = '{other}' RETURNING seq"
        );
        raw::number(&database, &pause).await;
        let (committed, _) = request(&store, main, StopReason::EndTurn).await;
        assert!(committed.sleeptime.is_none());
        assert_eq!(group_of(&store, main).await.unwrap().last_processed_message_id, None);
        let (lonely, _) = new_agent(&store).await;
        assert!(request(&store, lonely, StopReason::EndTurn).await.0.sleeptime.is_none());
    }

    async fn requests_that_end_at_once_are_each_counted_once(database) {
        let store = database.open().await;
        let (main, other, _) = pair(&store, Some(4)).await;
        let ended = join_all((0..12).map(|_| async {
            let run = run(main);
            store.create_run(&run).await.unwrap();
            let mut commit = bulkhead_store::StepCommit::new(main, None);
            commit.run = Some(RunUpdate::ended(run.id, StopReason::EndTurn));
            commit.sleeptime = Some(super::history::run(main));
            store.commit_step(&commit).await.unwrap().sleeptime
        }));
        let turns: Vec<_> = ended.await.into_iter().flatten().collect();
        assert_eq!(turns.len(), 3);
        assert_eq!(group_of(&store, main).await.unwrap().turns_counter, Some(3));
        let filter = bulkhead_store::RunFilter { agent_ids: Some(vec![other]), ..Default::default() };
        assert_eq!(store.runs(&filter).await.unwrap().len(), 3);
    }
}
