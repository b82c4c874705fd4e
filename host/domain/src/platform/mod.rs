//! The agent platform: people who sign in, the types of agents that they may use, their projects,
//! and the instances in these.
//!
//! - [`user`], [`session`]: who somebody is, and since when; [`email`]: addresses.
//! - [`agent_type`]: what an instance is made from; [`slug`]: names that stand in URLs.
//! - [`project`]: what belongs together, and who may do what in it.
//! - [`instance`]: an agent in a project; [`standing`]: whether it takes messages; [`status`]: what
//!   it does at the moment.

pub mod agent_type;
pub mod email;
pub mod instance;
pub mod project;
pub mod session;
pub mod slug;
pub mod standing;
pub mod status;
pub mod user;

pub use crate::id::{AgentTypeId, ProjectId, SessionId, UserId};
pub use agent_type::AgentType;
pub use email::InvalidEmail;
pub use instance::Instance;
pub use project::{Member, Project, Role};
pub use session::Session;
pub use slug::InvalidSlug;
pub use standing::Standing;
pub use status::{InstanceFacts, InstanceStatus};
pub use user::User;
