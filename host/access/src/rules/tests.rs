use std::collections::HashSet;

use super::*;

/// What each of these is answered: anonymous, the installation, a superuser who has nothing to do
/// with the thing, and a user who is nothing, viewer, member and owner of it. Written by hand and not
/// from the rules.
const TABLE: &[(Action, &str)] = &[
    (Action::RegisterUser, "ok  ok  ok  ok  ok  ok  ok "),
    (Action::ReadSelf, "401 403 ok  ok  ok  ok  ok "),
    (Action::UpdateSelf, "401 403 ok  ok  ok  ok  ok "),
    (Action::ChangePassword, "401 403 ok  ok  ok  ok  ok "),
    (Action::SignOut, "401 403 ok  ok  ok  ok  ok "),
    (Action::ListUsers, "401 ok  ok  403 403 403 403"),
    (Action::UpdateUser, "401 ok  ok  403 403 403 403"),
    (Action::ReadAgentType, "401 ok  ok  ok  ok  ok  ok "),
    (Action::CreateAgentType, "401 ok  ok  403 403 403 403"),
    (Action::UpdateAgentType, "401 ok  ok  403 403 403 403"),
    (Action::ListProjects, "401 ok  ok  ok  ok  ok  ok "),
    (Action::CreateProject, "401 403 ok  ok  ok  ok  ok "),
    (Action::ReadProject, "401 ok  ok  404 ok  ok  ok "),
    (Action::UpdateProject, "401 ok  ok  404 403 403 ok "),
    (Action::DeleteProject, "401 ok  ok  404 403 403 ok "),
    (Action::ReadMembers, "401 ok  ok  404 ok  ok  ok "),
    (Action::ChangeMembers, "401 ok  ok  404 403 403 ok "),
    (Action::SpawnInstance, "401 ok  ok  404 403 403 ok "),
    (Action::ReadInstance, "401 ok  ok  404 ok  ok  ok "),
    (Action::MessageInstance, "401 ok  ok  404 403 ok  ok "),
    (Action::ControlInstance, "401 ok  ok  404 403 403 ok "),
    (Action::ReadMetrics, "401 ok  ok  404 ok  ok  ok "),
    (Action::ReadCatalog, "401 ok  ok  ok  ok  ok  ok "),
    (Action::CreateObject, "401 ok  ok  ok  ok  ok  ok "),
    (Action::ManageInstallation, "401 ok  ok  403 403 403 403"),
];

const RELATIONS: [Relation; 4] = [
    Relation::None,
    Relation::Viewer,
    Relation::Member,
    Relation::Owner,
];

fn answer(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "ok",
        Decision::Unauthorized => "401",
        Decision::Forbidden => "403",
        Decision::Hidden => "404",
    }
}

fn user(is_superuser: bool) -> Principal {
    Principal::User {
        id: UserId::random(),
        is_superuser,
    }
}

#[test]
fn everybody_may_do_what_the_table_says_and_nothing_else() {
    for (action, expected) in TABLE {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        let others = [Principal::Anonymous, Principal::Installation, user(true)];
        assert_eq!(expected.len(), others.len() + RELATIONS.len(), "{action:?}");
        for (principal, expected) in others.iter().zip(&expected) {
            // What they are to the thing changes nothing.
            for relation in RELATIONS {
                let decision = decide(principal, *action, relation);
                assert_eq!(
                    answer(decision),
                    *expected,
                    "{principal:?} {action:?} {relation:?}"
                );
            }
        }
        for (relation, expected) in RELATIONS.iter().zip(&expected[others.len()..]) {
            let decision = decide(&user(false), *action, *relation);
            assert_eq!(answer(decision), *expected, "{action:?} {relation:?}");
        }
    }
}

#[test]
fn the_table_has_every_action_once() {
    let listed: HashSet<Action> = TABLE.iter().map(|(action, _)| *action).collect();
    assert_eq!(listed.len(), TABLE.len());
    assert_eq!(listed, Action::ALL.iter().copied().collect());
}

#[test]
fn each_role_is_the_relation_of_its_name() {
    for (role, relation) in [
        (None, Relation::None),
        (Some(Role::Viewer), Relation::Viewer),
        (Some(Role::Member), Relation::Member),
        (Some(Role::Owner), Relation::Owner),
    ] {
        assert_eq!(Relation::from(role), relation);
    }
}
