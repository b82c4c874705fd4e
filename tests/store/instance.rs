use std::collections::HashMap;

use bulkhead_domain::{
    Agent, RunStatus, StopReason, Timestamp,
    id::AgentId,
    platform::{
        AgentType, AgentTypeId, Instance, InstanceFacts, InstanceStatus, Member, Project,
        ProjectId, Role, Standing, User,
    },
};
use bulkhead_store::{
    InstanceFilter, NewAgent, NumberedPage, RunUpdate, Store, StoreError,
    instance::INSTANCES_MAX,
    project::{MEMBERS_MAX, PROJECTS_MAX},
};

use super::{
    agent::agent,
    agent_type,
    history::{self, run},
    project, user,
};

/// Where instances are made in a test, and from what.
pub(crate) struct Place {
    pub(crate) owner: User,
    pub(crate) project: Project,
    agent_type: AgentType,
}

impl Place {
    pub(crate) async fn new(store: &Store, name: &str) -> Self {
        let owner = user::made(store, &format!("{name}@example.com")).await;
        Self {
            project: project::made(store, &owner, name).await,
            agent_type: agent_type::made(store, name).await,
            owner,
        }
    }

    fn unstored(&self, name: &str) -> NewAgent {
        let agent = Agent {
            created_by_id: Some(self.owner.id.to_string()),
            ..agent(name)
        };
        let now = Timestamp::now();
        NewAgent {
            instance: Some(Instance {
                agent_id: agent.id,
                project_id: self.project.id,
                agent_type_id: self.agent_type.id,
                name: name.to_owned(),
                created_by: self.owner.id,
                standing: Standing::Active,
                created_at: now,
                updated_at: now,
                terminated_at: None,
            }),
            ..NewAgent::new(agent)
        }
    }

    /// Stores an instance.
    pub(crate) async fn spawn(&self, store: &Store, name: &str) -> Instance {
        let new = self.unstored(name);
        store.create_agent(&new).await.unwrap();
        new.instance.unwrap()
    }
}

async fn status(store: &Store, instance: &Instance) -> InstanceStatus {
    let found = store.instance(instance.project_id, instance.agent_id).await;
    found.unwrap().unwrap().facts.status()
}

/// Writes why the agent stopped last.
async fn stopped(store: &Store, agent: AgentId, reason: StopReason) {
    let set = |agent: &mut Agent| {
        agent.last_stop_reason = Some(reason);
        Ok::<_, StoreError>(())
    };
    store
        .update_agent(&agent, set, &Default::default())
        .await
        .unwrap();
}

on_both! {
    async fn an_instance_is_made_with_its_agent_and_goes_with_it(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let instance = place.spawn(&store, "Worker").await;
        let record = store.instance(place.project.id, instance.agent_id).await.unwrap().unwrap();
        assert_eq!(record.instance, instance);
        let idle = InstanceFacts {
            standing: Standing::Active,
            has_active_run: false,
            last_stop_reason: None,
        };
        assert_eq!(record.facts, idle);
        let found = store.instance_of(instance.agent_id).await.unwrap();
        assert_eq!(found, Some(instance.clone()));
        let elsewhere = store.instance(ProjectId::random(), instance.agent_id).await.unwrap();
        assert_eq!(elsewhere, None);
        assert_eq!(store.instance_of(AgentId::random()).await.unwrap(), None);
        let rename = |agent: &mut Agent| {
            "Renamed".clone_into(&mut agent.name);
            Ok::<_, StoreError>(())
        };
        store.update_agent(&instance.agent_id, rename, &Default::default()).await.unwrap();
        let renamed = store.instance_of(instance.agent_id).await.unwrap().unwrap();
        assert_eq!(renamed.name, "Renamed");
        assert!(renamed.updated_at > instance.updated_at);
        assert!(store.delete_agent(&instance.agent_id).await.unwrap());
        assert_eq!(store.instance_of(instance.agent_id).await.unwrap(), None);
    }

    async fn nothing_is_made_of_an_instance_for_which_there_is_no_place(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let other = agent_type::made(&store, "inactive").await;
        store.update_agent_type(other.id, agent_type::inactive).await.unwrap();
        let gone = project::made(&store, &place.owner, "gone").await;
        store.delete_project(gone.id, Timestamp::now()).await.unwrap();
        type Spoil = fn(&mut Instance, AgentTypeId, ProjectId);
        let spoils: [(Spoil, &str); 5] = [
            (|new, other, _| new.agent_type_id = other, "the agent type is not active"),
            (|new, _, _| new.agent_type_id = AgentTypeId::random(), "there is no agent type"),
            (|new, _, gone| new.project_id = gone, "there is no project"),
            (|new, _, _| new.project_id = ProjectId::random(), "there is no project"),
            (|new, _, _| new.agent_id = AgentId::random(), "the instance is another agent's"),
        ];
        for (spoil, expected) in spoils {
            let mut new = place.unstored("Worker");
            spoil(new.instance.as_mut().unwrap(), other.id, gone.id);
            let error = store.create_agent(&new).await.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert_eq!(store.agent(&new.agent.id).await.unwrap(), None);
        }
    }

    async fn projects_members_and_instances_are_limited(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let (owner, project) = (place.owner.id, place.project.id);
        let agent_type = place.agent_type.id;
        let numbers = |last: u64| format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
        );
        let (members, instances) = (numbers(MEMBERS_MAX), numbers(INSTANCES_MAX));
        let projects = numbers(PROJECTS_MAX - 1);
        let fill = format!(
            "{members} INSERT INTO users (id, email, first_name, last_name, is_superuser, is_active,
                password_hash, created_at, updated_at)
                SELECT 'user-' || i, 'u' || i, '', '', 0, 1, 'hash', 0, 0 FROM n;
            {members} INSERT INTO project_members (project_id, user_id, role, added_at)
                SELECT '{project}', 'user-' || i, 'viewer', 0 FROM n;
            {instances} INSERT INTO agents (id, name, name_folded, created_at, updated_at, size,
                message_ids, document) SELECT 'agent-' || i, '', '', 0, 0, 0, '', '' FROM n;
            {instances} INSERT INTO instances (agent_id, project_id, agent_type_id, created_by,
                created_at, updated_at)
                SELECT 'agent-' || i, '{project}', '{agent_type}', '{owner}', 0, 0 FROM n;
            {projects} INSERT INTO projects (id, name, name_folded, slug, owner_id, created_at,
                updated_at) SELECT 'project-' || i, '', '', 's' || i, '{owner}', 0, 0 FROM n;"
        );
        database.script(&fill).await;
        let one_more = user::made(&store, "more@example.com").await;
        let member = Member {
            project_id: project,
            user_id: one_more.id,
            role: Role::Viewer,
            added_at: Timestamp::now(),
        };
        let another = Project::new(owner, "Another", "another");
        for (refused, limit) in [
            (store.put_member(&member).await.map(drop), MEMBERS_MAX),
            (store.create_agent(&place.unstored("more")).await, INSTANCES_MAX),
            (store.create_project(&another).await, PROJECTS_MAX),
        ] {
            let error = refused.unwrap_err();
            let is_quota = matches!(error, StoreError::Quota { limit: of, .. } if of == limit);
            assert!(is_quota, "{error:?}");
        }
        assert_eq!(store.role_in(project, one_more.id).await.unwrap(), None);
        // A place that becomes free is taken again.
        let free = "DELETE FROM project_members WHERE user_id = 'user-1';
            UPDATE instances SET terminated_at = 0 WHERE agent_id = 'agent-1';
            UPDATE projects SET deleted_at = 0 WHERE id = 'project-1';";
        database.script(free).await;
        store.put_member(&member).await.unwrap();
        place.spawn(&store, "more").await;
        store.create_project(&another).await.unwrap();
    }

    async fn the_standing_changes_only_from_where_it_may(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let instance = place.spawn(&store, "Worker").await;
        let set = |to: Standing| store.set_standing(instance.agent_id, to.reached_from(), to);
        let mut standing = Standing::Active;
        for (to, expected) in [
            (Standing::Active, Err(InstanceStatus::Idle)),
            (Standing::Paused, Ok(InstanceStatus::Paused)),
            (Standing::Paused, Err(InstanceStatus::Paused)),
            (Standing::Active, Ok(InstanceStatus::Idle)),
            (Standing::Paused, Ok(InstanceStatus::Paused)),
            (Standing::Terminated, Ok(InstanceStatus::Terminated)),
            (Standing::Active, Err(InstanceStatus::Terminated)),
            (Standing::Paused, Err(InstanceStatus::Terminated)),
            (Standing::Terminated, Err(InstanceStatus::Terminated)),
        ] {
            let result = match set(to).await {
                Ok(record) => {
                    assert_eq!(record.instance.standing, to);
                    assert_eq!(record.instance.terminated_at.is_some(), to == Standing::Terminated);
                    Ok(record.facts.status())
                }
                Err(StoreError::WrongStanding { status, .. }) => Err(status),
                Err(error) => panic!("{error:?}"),
            };
            assert_eq!(result, expected, "{to:?}");
            if expected.is_ok() {
                standing = to;
            }
            let agent = store.agent(&instance.agent_id).await.unwrap().unwrap();
            assert_eq!(agent.standing, standing);
            let equipped = store.equipped_agent(&instance.agent_id).await.unwrap().unwrap();
            assert_eq!(equipped.agent.standing, standing);
        }
        let plain = super::agent::made(&store, "plain").await;
        for nothing in [plain.id, AgentId::random()] {
            let paused = store.set_standing(nothing, &[Standing::Active], Standing::Paused).await;
            let error = paused.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { what: "instance", .. }), "{error:?}");
        }
        // Whoever changes an agent by its document does not change how it stands.
        let active = |agent: &mut Agent| {
            agent.standing = Standing::Active;
            Ok::<_, StoreError>(())
        };
        store.update_agent(&instance.agent_id, active, &Default::default()).await.unwrap();
        let agent = store.agent(&instance.agent_id).await.unwrap().unwrap();
        assert_eq!(agent.standing, Standing::Terminated);
    }

    async fn work_that_is_no_run_is_not_stored_of_an_agent_that_is_not_active(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let agent = place.spawn(&store, "Worker").await.agent_id;
        let mut commit = history::adding(agent, &[], history::exchange(agent, "weather"));
        commit.expects_active = true;
        for to in [Standing::Paused, Standing::Terminated] {
            store.set_standing(agent, to.reached_from(), to).await.unwrap();
            let error = store.commit_step(&commit).await.unwrap_err();
            let typed = matches!(
                (&error, to),
                (StoreError::AgentPaused { .. }, Standing::Paused)
                    | (StoreError::AgentTerminated { .. }, Standing::Terminated)
            );
            assert!(typed, "{error:?}");
        }
        assert!(history::context(&store, &agent).await.is_empty());
        // A run that goes on is written to its end.
        commit.expects_active = false;
        store.commit_step(&commit).await.unwrap();
        assert_eq!(history::context(&store, &agent).await.len(), commit.messages.len());
    }

    async fn of_two_who_pause_at_once_one_does(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let agent = place.spawn(&store, "Worker").await.agent_id;
        let both = (0..2).map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                store.set_standing(agent, &[Standing::Active], Standing::Paused).await.is_ok()
            })
        });
        let mut paused = 0;
        for one in both.collect::<Vec<_>>() {
            paused += usize::from(one.await.unwrap());
        }
        assert_eq!(paused, 1);
    }

    async fn an_agent_that_is_not_active_takes_no_run_by_any_way(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let agent = place.spawn(&store, "Worker").await.agent_id;
        let before = run(agent);
        let otids = ["otid".to_owned()];
        store.create_run_once(&before, &otids).await.unwrap();
        for to in [Standing::Paused, Standing::Terminated] {
            store.set_standing(agent, to.reached_from(), to).await.unwrap();
            let id = agent.to_string();
            let expected = match to {
                Standing::Paused => format!("the agent {id} is paused"),
                _ => format!("the agent {id} is terminated"),
            };
            let new = run(agent);
            let other = ["other".to_owned()];
            for error in [
                store.create_run(&new).await.unwrap_err(),
                store.create_run_with_otids(&new, &other).await.unwrap_err(),
                store.create_run_once(&new, &other).await.unwrap_err(),
            ] {
                let typed = matches!(
                    (&error, to),
                    (StoreError::AgentPaused { .. }, Standing::Paused)
                        | (StoreError::AgentTerminated { .. }, Standing::Terminated)
                );
                assert!(typed && error.to_string() == expected, "{error:?}");
            }
            assert_eq!(store.run(&new.id).await.unwrap(), None);
            assert_eq!(store.run_of_otid(&agent, None, "other").await.unwrap(), None);
        }
        // A run that goes on is written to its end.
        let ended = RunUpdate::ended(before.id, StopReason::Cancelled);
        let ended = store.finish_run(&ended).await.unwrap();
        assert_eq!(ended.status, RunStatus::Cancelled);
        let nobody = run(AgentId::random());
        for error in [
            store.create_run(&nobody).await.unwrap_err(),
            store.create_run_with_otids(&nobody, &otids).await.unwrap_err(),
            store.create_run_once(&nobody, &otids).await.unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::NotFound { what: "agent", .. }), "{error:?}");
        }
    }

    async fn a_resumed_agent_takes_runs_again(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let agent = place.spawn(&store, "Worker").await.agent_id;
        for to in [Standing::Paused, Standing::Active] {
            store.set_standing(agent, to.reached_from(), to).await.unwrap();
        }
        let new = run(agent);
        store.create_run(&new).await.unwrap();
        assert_eq!(store.run(&new.id).await.unwrap(), Some(new));
    }

    async fn the_status_of_an_instance_follows_from_its_runs(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let instance = place.spawn(&store, "Worker").await;
        let agent = instance.agent_id;
        assert_eq!(status(&store, &instance).await, InstanceStatus::Idle);
        let works = run(agent);
        store.create_run(&works).await.unwrap();
        assert_eq!(status(&store, &instance).await, InstanceStatus::Working);
        let ended = RunUpdate::ended(works.id, StopReason::RequiresApproval);
        store.finish_run(&ended).await.unwrap();
        for (reason, expected) in [
            (StopReason::RequiresApproval, InstanceStatus::Waiting),
            (StopReason::Cancelled, InstanceStatus::Idle),
            (StopReason::LlmApiError, InstanceStatus::Error),
            (StopReason::EndTurn, InstanceStatus::Idle),
        ] {
            stopped(&store, agent, reason).await;
            assert_eq!(status(&store, &instance).await, expected, "{reason:?}");
        }
    }

    async fn instances_are_listed_in_pages_with_what_they_do(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let other = Place::new(&store, "other").await;
        other.spawn(&store, "Elsewhere").await;
        let mut ids = Vec::new();
        for name in ["idle", "works", "waits", "paused", "ended"] {
            ids.push(place.spawn(&store, name).await.agent_id);
        }
        store.create_run(&run(ids[1])).await.unwrap();
        stopped(&store, ids[2], StopReason::RequiresApproval).await;
        store.set_standing(ids[3], &[Standing::Active], Standing::Paused).await.unwrap();
        store.set_standing(ids[4], &[Standing::Active], Standing::Terminated).await.unwrap();
        let base = InstanceFilter::of(place.project.id);
        let standing = |standing| InstanceFilter { standing: Some(standing), ..base.clone() };
        let (page, page_size) = (2, 2);
        for (filter, expected, total) in [
            (base.clone(), &ids[..], 5),
            (standing(Standing::Active), &ids[..3], 3),
            (standing(Standing::Paused), &ids[3..4], 1),
            (standing(Standing::Terminated), &ids[4..], 1),
            (InstanceFilter { page: NumberedPage { page, page_size }, ..base.clone() },
                &ids[2..4], 5),
            (InstanceFilter { agent_type_id: Some(other.agent_type.id), ..base.clone() }, &[], 0),
            (InstanceFilter::of(ProjectId::random()), &[], 0),
        ] {
            let (found, count) = store.list_instances(&filter).await.unwrap();
            let found: Vec<_> = found.iter().map(|record| record.instance.agent_id).collect();
            assert_eq!((found.as_slice(), count), (expected, total), "{filter:?}");
        }
        let (found, _) = store.list_instances(&base).await.unwrap();
        let found: Vec<_> = found.iter().map(|record| record.facts.status()).collect();
        let each = [
            InstanceStatus::Idle,
            InstanceStatus::Working,
            InstanceStatus::Waiting,
            InstanceStatus::Paused,
            InstanceStatus::Terminated,
        ];
        assert_eq!(found, each);
        let counts = store.instance_counts(place.project.id).await.unwrap();
        assert_eq!(counts, HashMap::from(each.map(|status| (status, 1))));
        assert_eq!(store.instance_counts(ProjectId::random()).await.unwrap(), HashMap::new());
    }

    async fn the_instances_of_a_deleted_project_are_terminated_with_it(database) {
        let store = database.open().await;
        let place = Place::new(&store, "one").await;
        let other = Place::new(&store, "other").await.spawn(&store, "Elsewhere").await;
        let mut ids = Vec::new();
        for name in ["active", "paused", "ended"] {
            ids.push(place.spawn(&store, name).await.agent_id);
        }
        store.set_standing(ids[1], &[Standing::Active], Standing::Paused).await.unwrap();
        let ended = store.set_standing(ids[2], &[Standing::Active], Standing::Terminated).await;
        let ended = ended.unwrap().instance;
        let at = Timestamp::from_micros(ended.updated_at.micros() + 1);
        let mut terminated = store.delete_project(place.project.id, at).await.unwrap();
        terminated.sort();
        let mut expected = ids[..2].to_vec();
        expected.sort();
        assert_eq!(terminated, expected);
        for id in &ids[..2] {
            let instance = store.instance_of(*id).await.unwrap().unwrap();
            assert_eq!(instance.standing, Standing::Terminated);
            assert_eq!(instance.terminated_at, Some(at));
            let error = store.create_run(&run(*id)).await.unwrap_err();
            assert!(matches!(error, StoreError::AgentTerminated { .. }), "{error:?}");
        }
        assert_eq!(store.instance_of(ids[2]).await.unwrap(), Some(ended));
        let (none, total) = store.list_instances(&InstanceFilter::of(place.project.id)).await.unwrap();
        assert_eq!((none.len(), total), (0, 0));
        assert_eq!(store.instance(place.project.id, ids[0]).await.unwrap(), None);
        let spared = store.instance_of(other.agent_id).await.unwrap().unwrap();
        assert_eq!(spared.standing, Standing::Active);
    }

    async fn agents_that_are_in_no_project_are_active(database) {
        let store = database.open().await;
        let (agent, _) = history::new_agent(&store).await;
        assert_eq!(store.agent(&agent).await.unwrap().unwrap().standing, Standing::Active);
    }
}
