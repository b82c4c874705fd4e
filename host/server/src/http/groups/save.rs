//! Create, update and delete.

use axum::{Json, extract::State};
use bulkhead_domain::{
    Group, Manager,
    group::TURNS_BEGIN,
    id::{AgentId, BlockId, GroupId},
};
use bulkhead_store::{GroupRelations, StoreError};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::view::GroupView;
use crate::{
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{
        AppState,
        agents::delete::Done,
        blocks::update::{replace, set},
        missing,
        query::Path,
        scope, unbroken_contract,
    },
};

/// By which word a group ends that an agent leads from turn to turn, where nobody says otherwise.
const TERMINATION_TOKEN: &str = "DONE!";

/// The body of a new group.
#[derive(Deserialize, ToSchema)]
pub(crate) struct GroupCreate {
    #[schema(value_type = Vec<String>)]
    agent_ids: Vec<AgentId>,
    description: String,
    /// `manager_type` and what belongs to it; round_robin unless told otherwise
    #[schema(value_type = Option<Object>)]
    manager_config: Option<Manager>,
    project_id: Option<String>,
    #[schema(value_type = Option<Vec<String>>)]
    shared_block_ids: Option<Vec<BlockId>>,
    hidden: Option<bool>,
}

impl Schema for GroupCreate {
    const NAME: &str = "GroupCreate";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct GroupUpdate {
    #[schema(value_type = Option<Vec<String>>)]
    agent_ids: Option<Vec<AgentId>>,
    description: Option<String>,
    /// its `manager_type` and what changes; a number that is null is taken away
    #[schema(value_type = Option<Object>)]
    manager_config: Option<ManagerUpdate>,
    project_id: Option<String>,
    #[schema(value_type = Option<Vec<String>>)]
    shared_block_ids: Option<Vec<BlockId>>,
}

impl Schema for GroupUpdate {
    const NAME: &str = "GroupUpdate";
}

/// A change of who leads a group. What is left out stays; what is null is none from then on.
#[derive(Deserialize)]
struct ManagerUpdate {
    manager_type: String,
    manager_agent_id: Option<AgentId>,
    #[serde(default, deserialize_with = "given")]
    termination_token: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    max_turns: Option<Option<i64>>,
    #[serde(default, deserialize_with = "given")]
    sleeptime_agent_frequency: Option<Option<i64>>,
    #[serde(default, deserialize_with = "given")]
    max_message_buffer_length: Option<Option<i64>>,
    #[serde(default, deserialize_with = "given")]
    min_message_buffer_length: Option<Option<i64>>,
}

/// A field that is there, also where it is null.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl ManagerUpdate {
    fn apply(self, group: &mut Group) -> Result<(), Refusal> {
        let known = group.manager.manager_type().as_str();
        if self.manager_type != known {
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: the group is of the manager_type {known}, which cannot be changed \
                 to {}; make another group",
                self.manager_type
            )));
        }
        let lead = self.manager_agent_id;
        match &mut group.manager {
            Manager::RoundRobin { max_turns } => set(max_turns, self.max_turns),
            Manager::Supervisor { manager_agent_id } => set(manager_agent_id, lead),
            Manager::Dynamic {
                manager_agent_id,
                termination_token,
                max_turns,
            } => {
                set(manager_agent_id, lead);
                set(termination_token, self.termination_token);
                set(max_turns, self.max_turns);
            }
            Manager::Sleeptime {
                manager_agent_id,
                sleeptime_agent_frequency,
            } => {
                set(manager_agent_id, lead);
                set(sleeptime_agent_frequency, self.sleeptime_agent_frequency);
                if sleeptime_agent_frequency.is_some() {
                    group.turns_counter = group.turns_counter.or(Some(TURNS_BEGIN));
                }
            }
            Manager::VoiceSleeptime {
                manager_agent_id,
                max_message_buffer_length,
                min_message_buffer_length,
            } => {
                set(manager_agent_id, lead);
                set(max_message_buffer_length, self.max_message_buffer_length);
                set(min_message_buffer_length, self.min_message_buffer_length);
            }
        }
        check(&group.manager)
    }
}

/// Refuses numbers that mean nothing.
pub(crate) fn check(manager: &Manager) -> Result<(), Refusal> {
    let numbers = match manager {
        Manager::RoundRobin { max_turns } | Manager::Dynamic { max_turns, .. } => {
            [("max_turns", *max_turns), ("", None)]
        }
        Manager::Supervisor { .. } => return Ok(()),
        Manager::Sleeptime {
            sleeptime_agent_frequency,
            ..
        } => [
            ("sleeptime_agent_frequency", *sleeptime_agent_frequency),
            ("", None),
        ],
        Manager::VoiceSleeptime {
            max_message_buffer_length,
            min_message_buffer_length,
            ..
        } => [
            ("max_message_buffer_length", *max_message_buffer_length),
            ("min_message_buffer_length", *min_message_buffer_length),
        ],
    };
    for (name, number) in numbers {
        if number.is_some_and(|number| number < 1) {
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: {name} must be at least 1"
            )));
        }
    }
    Ok(())
}

/// Makes a group.
#[utoipa::path(
    post,
    path = "/v1/groups/",
    operation_id = "create_group",
    tag = "groups",
    request_body = GroupCreate,
    responses((status = OK, body = GroupView, description = "the group"), Refusals)
)]
pub(crate) async fn create(
    State(app): State<AppState>,
    Body(body): Body<GroupCreate>,
) -> Result<Json<GroupView>, Refusal> {
    let round_robin = Manager::RoundRobin { max_turns: None };
    let mut manager = body.manager_config.unwrap_or(round_robin);
    check(&manager)?;
    if let Manager::Dynamic {
        termination_token, ..
    } = &mut manager
    {
        termination_token.get_or_insert_with(|| TERMINATION_TOKEN.to_owned());
    }
    let group = Group {
        agent_ids: distinct(body.agent_ids),
        shared_block_ids: distinct(body.shared_block_ids.unwrap_or_default()),
        project_id: body.project_id,
        hidden: body.hidden,
        created_by_id: Some(scope::actor()),
        ..Group::new(body.description, manager)
    };
    let created = app.store.create_group(&group).await;
    created.map_err(missing::stored)?;
    Ok(Json(group.into()))
}

fn distinct<T: PartialEq>(ids: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(ids.len());
    for id in ids {
        if !kept.contains(&id) {
            kept.push(id);
        }
    }
    kept
}

/// Why an update did not happen.
enum Stopped {
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Changes the fields that are given; lists are replaced.
#[utoipa::path(
    patch,
    path = "/v1/groups/{group_id}",
    operation_id = "modify_group",
    tag = "groups",
    params(("group_id" = String, Path, description = "the group's id")),
    request_body = GroupUpdate,
    responses((status = OK, body = GroupView, description = "the group"), Refusals)
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(group_id): Path<String>,
    Body(body): Body<GroupUpdate>,
) -> Result<Json<GroupView>, Refusal> {
    let id: GroupId = id::parse("group_id", &group_id)?;
    let relations = GroupRelations {
        agent_ids: body.agent_ids.map(distinct),
        shared_block_ids: body.shared_block_ids.map(distinct),
    };
    let changed = unbroken_contract(async move {
        let edit = |group: &mut Group| {
            set(&mut group.description, body.description);
            replace(&mut group.project_id, body.project_id);
            let manager = body.manager_config.map(|manager| manager.apply(group));
            manager.unwrap_or(Ok(())).map_err(Stopped::Refused)
        };
        let changed = app.store.update_group(&id, edit, &relations).await;
        changed.map_err(|stopped| match stopped {
            Stopped::Refused(refusal) => refusal,
            Stopped::Store(error) => missing::stored(error),
        })
    });
    Ok(Json(changed.await?.into()))
}

/// Deletes a group; its agents and blocks stay.
#[utoipa::path(
    delete,
    path = "/v1/groups/{group_id}",
    operation_id = "delete_group",
    tag = "groups",
    params(("group_id" = String, Path, description = "the group's id")),
    responses((status = OK, body = Done, description = "it is deleted"), Refusals)
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(group_id): Path<String>,
) -> Result<Json<Done>, Refusal> {
    let id: GroupId = id::parse("group_id", &group_id)?;
    if !app.store.delete_group(&id).await? {
        return Err(missing::object("Group", id));
    }
    let message = format!("Group id={id} successfully deleted");
    Ok(Json(Done { message }))
}
