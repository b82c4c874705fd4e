//! Who may do what: one table, [`Action::rule`], and one function that reads it, [`decide`].
//!
//! A route names its action, and finds out what the caller is to the thing that the request names.
//! Who has nothing to do with a thing is told what one is told of a thing that does not exist.

use bulkhead_domain::platform::{Role, UserId};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Principal {
    /// Nobody: the request has no token.
    Anonymous,
    /// Who runs the server: the request has the installation's token, or comes from this machine to
    /// a server without one. Nobody in particular, who may do all that needs no person.
    Installation,
    /// A person who signed in.
    User {
        /// Who it is.
        id: UserId,
        /// Whether everything is allowed to them.
        is_superuser: bool,
    },
}

/// What the principal is to the thing that the request names, from the least to the most.
///
/// In a project it is the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// Nothing.
    None,
    /// Sees everything.
    Viewer,
    /// Works with what is there.
    Member,
    /// Decides.
    Owner,
}

impl From<Role> for Relation {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Member => Self::Member,
            Role::Owner => Self::Owner,
        }
    }
}

impl From<Option<Role>> for Relation {
    fn from(role: Option<Role>) -> Self {
        role.map_or(Self::None, Self::from)
    }
}

/// What a request is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// Do it.
    Allow,
    /// Say that a token is missing (401).
    Unauthorized,
    /// Say that this is not allowed to them (403).
    Forbidden,
    /// Say what is said of a thing that does not exist (404).
    Hidden,
}

/// Who may do an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Everybody, without any token.
    Anyone,
    /// Persons alone: it is about who asks.
    Person,
    /// Whoever has a token.
    SignedIn,
    /// Superusers and the installation.
    Superuser,
    /// Who is at least this to the thing; and superusers and the installation.
    AtLeast(Relation),
}

use Rule::{Anyone, AtLeast, Person, SignedIn, Superuser};

/// The table: each action with its rule.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident: $rule:expr;)*) => {
        /// Everything that the API can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Action {
            $($(#[$doc])* $name,)*
        }

        impl Action {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            fn rule(self) -> Rule {
                match self {
                    $(Self::$name => $rule,)*
                }
            }
        }
    };
}

actions! {
    /// Make a user for oneself; an operator can close that for all but superusers.
    RegisterUser: Anyone;

    /// See who one is.
    ReadSelf: Person;
    /// Change one's names.
    UpdateSelf: Person;
    /// Set another password, knowing the present one.
    ChangePassword: Person;
    /// End the present sign-in, or all.
    SignOut: Person;

    /// List the users, and see one.
    ListUsers: Superuser;
    /// Make a superuser of a user, or keep one from signing in.
    UpdateUser: Superuser;

    /// List agent types, and see one.
    ReadAgentType: SignedIn;
    /// Make an agent type.
    CreateAgentType: Superuser;
    /// Change an agent type.
    UpdateAgentType: Superuser;

    /// List the projects that one is in.
    ListProjects: SignedIn;
    /// Make a project, which is then one's own.
    CreateProject: Person;
    /// See a project.
    ReadProject: AtLeast(Relation::Viewer);
    /// Change a project.
    UpdateProject: AtLeast(Relation::Owner);
    /// Delete a project, and end what is in it.
    DeleteProject: AtLeast(Relation::Owner);
    /// See who is in a project.
    ReadMembers: AtLeast(Relation::Viewer);
    /// Decide who is in a project.
    ChangeMembers: AtLeast(Relation::Owner);

    /// Make an instance.
    SpawnInstance: AtLeast(Relation::Owner);
    /// List instances; see one, its messages and its runs.
    ReadInstance: AtLeast(Relation::Viewer);
    /// Send messages to an instance, answer its requests for approval, cancel its runs.
    MessageInstance: AtLeast(Relation::Member);
    /// Pause, resume and terminate an instance.
    ControlInstance: AtLeast(Relation::Owner);
    /// See what instances have done and cost.
    ReadMetrics: AtLeast(Relation::Viewer);

    /// Over `/v1`: see what the server offers to all, such as models.
    ReadCatalog: SignedIn;
    /// Over `/v1`: make an agent, a block or whatever else is somebody's.
    CreateObject: SignedIn;
    /// Over `/v1`: install components, grant, keep credentials, set up providers.
    ManageInstallation: Superuser;
}

/// Whether this principal, who is that to the thing in question, may do this.
pub fn decide(principal: &Principal, action: Action, relation: Relation) -> Decision {
    let rule = action.rule();
    let is_superuser = match principal {
        Principal::Anonymous if rule == Anyone => return Decision::Allow,
        Principal::Anonymous => return Decision::Unauthorized,
        Principal::Installation if rule == Person => return Decision::Forbidden,
        Principal::Installation => return Decision::Allow,
        Principal::User { is_superuser, .. } => *is_superuser,
    };
    match rule {
        Anyone | Person | SignedIn => Decision::Allow,
        Superuser | AtLeast(_) if is_superuser => Decision::Allow,
        Superuser => Decision::Forbidden,
        AtLeast(least) if relation >= least => Decision::Allow,
        AtLeast(_) if relation == Relation::None => Decision::Hidden,
        AtLeast(_) => Decision::Forbidden,
    }
}

#[cfg(test)]
mod tests;
