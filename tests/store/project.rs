use bulkhead_domain::{
    Timestamp,
    platform::{Member, Project, ProjectId, Role, User, UserId},
};
use bulkhead_store::{MemberRecord, NumberedPage, ProjectFilter, Store, StoreError};

use super::user;

/// Stores a project of this owner.
pub(crate) async fn made(store: &Store, owner: &User, slug: &str) -> Project {
    let project = Project::new(owner.id, format!("The {slug}"), slug);
    store.create_project(&project).await.unwrap();
    project
}

fn member(project: &Project, user: &User, role: Role) -> Member {
    Member {
        project_id: project.id,
        user_id: user.id,
        role,
        added_at: Timestamp::from_micros(7),
    }
}

async fn people(store: &Store) -> [User; 3] {
    [
        user::made(store, "ada@example.com").await,
        user::made(store, "bob@example.com").await,
        user::made(store, "eve@example.com").await,
    ]
}

on_both! {
    async fn a_project_reads_back_and_changes_and_is_gone_when_it_is_deleted(database) {
        let store = database.open().await;
        let [ada, bob, _] = people(&store).await;
        let project = made(&store, &ada, "one").await;
        assert_eq!(store.project(project.id).await.unwrap().as_ref(), Some(&project));
        let changed = store.update_project(project.id, |project| {
            project.id = ProjectId::random();
            project.owner_id = bob.id;
            "Renamed".clone_into(&mut project.name);
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.unwrap();
        let name = "Renamed".to_owned();
        assert_eq!(changed, Project { name, updated_at: changed.updated_at, ..project.clone() });
        store.put_member(&member(&project, &bob, Role::Member)).await.unwrap();
        let none = store.delete_project(project.id, Timestamp::now()).await.unwrap();
        assert_eq!(none, []);
        assert_eq!(store.project(project.id).await.unwrap(), None);
        assert_eq!(store.role_in(project.id, ada.id).await.unwrap(), None);
        assert_eq!(store.role_in(project.id, bob.id).await.unwrap(), None);
        let of_ada = ProjectFilter { user_id: Some(ada.id), all: true, ..Default::default() };
        for filter in [of_ada, ProjectFilter::default()] {
            assert_eq!(store.list_projects(&filter).await.unwrap(), (vec![], 0));
        }
        let missing = |error: StoreError| {
            assert!(matches!(error, StoreError::NotFound { what: "project", .. }), "{error:?}");
        };
        let nothing = |_: &mut Project| Ok::<_, StoreError>(());
        missing(store.delete_project(project.id, Timestamp::now()).await.unwrap_err());
        missing(store.update_project(project.id, nothing).await.unwrap_err());
        missing(store.put_member(&member(&project, &bob, Role::Viewer)).await.unwrap_err());
        missing(store.remove_member(project.id, bob.id).await.unwrap_err());
        for bad in [
            Project::new(ada.id, "", "slug"),
            Project::new(ada.id, "name", "No Slug"),
            Project::new(UserId::random(), "name", "slug"),
        ] {
            store.create_project(&bad).await.unwrap_err();
            assert_eq!(store.project(bad.id).await.unwrap(), None);
        }
    }

    async fn a_slug_is_unique_among_the_living_projects_of_one_owner(database) {
        let store = database.open().await;
        let [ada, bob, _] = people(&store).await;
        let first = made(&store, &ada, "one").await;
        made(&store, &bob, "one").await;
        let second = made(&store, &ada, "two").await;
        let again = Project::new(ada.id, "Again", "one");
        let error = store.create_project(&again).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a project named one");
        let rename = |project: &mut Project| {
            "one".clone_into(&mut project.slug);
            Ok::<_, StoreError>(())
        };
        let error = store.update_project(second.id, rename).await.unwrap_err();
        assert!(matches!(error, StoreError::NameTaken { what: "project", .. }), "{error:?}");
        store.delete_project(first.id, Timestamp::now()).await.unwrap();
        store.create_project(&again).await.unwrap();
    }

    async fn a_project_has_one_owner_and_members_with_their_roles(database) {
        let store = database.open().await;
        let [ada, bob, eve] = people(&store).await;
        let project = made(&store, &ada, "one").await;
        let other = made(&store, &bob, "other").await;
        let put = member(&project, &bob, Role::Viewer);
        let record = store.put_member(&put).await.unwrap();
        let expected = MemberRecord {
            member: put,
            email: bob.email.clone(),
            first_name: bob.first_name.clone(),
            last_name: bob.last_name.clone(),
        };
        assert_eq!(record, expected);
        assert_eq!(store.role_in(project.id, bob.id).await.unwrap(), Some(Role::Viewer));
        // Another role, since the same time.
        let again = Member { role: Role::Member, added_at: Timestamp::now(), ..put };
        let record = store.put_member(&again).await.unwrap();
        assert_eq!(record.member, Member { role: Role::Member, ..put });
        for (project, user, role) in [
            (project.id, ada.id, Some(Role::Owner)),
            (project.id, bob.id, Some(Role::Member)),
            (project.id, eve.id, None),
            (project.id, UserId::random(), None),
            (other.id, ada.id, None),
            (ProjectId::random(), ada.id, None),
        ] {
            assert_eq!(store.role_in(project, user).await.unwrap(), role);
        }
        let nobody = Member { user_id: UserId::random(), ..put };
        for refused in [member(&project, &ada, Role::Viewer), member(&project, &eve, Role::Owner),
            nobody]
        {
            store.put_member(&refused).await.unwrap_err();
        }
        store.put_member(&member(&project, &eve, Role::Viewer)).await.unwrap();
        let page = |page| NumberedPage { page, page_size: 1 };
        let (members, total) = store.list_members(project.id, page(1)).await.unwrap();
        assert_eq!((members, total), (vec![record], 2));
        let (members, total) = store.list_members(project.id, page(2)).await.unwrap();
        assert_eq!((members[0].member.user_id, total), (eve.id, 2));
        assert!(store.remove_member(project.id, eve.id).await.unwrap());
        assert!(!store.remove_member(project.id, eve.id).await.unwrap());
        assert!(!store.remove_member(project.id, ada.id).await.unwrap());
        assert_eq!(store.role_in(project.id, eve.id).await.unwrap(), None);
        assert_eq!(store.role_in(project.id, ada.id).await.unwrap(), Some(Role::Owner));
    }

    async fn a_user_sees_the_projects_in_which_there_is_a_role_and_a_superuser_all(database) {
        let store = database.open().await;
        let [ada, bob, eve] = people(&store).await;
        let first = made(&store, &ada, "first").await;
        let second = made(&store, &bob, "second").await;
        let third = made(&store, &ada, "third").await;
        store.put_member(&member(&first, &bob, Role::Viewer)).await.unwrap();
        store.put_member(&member(&first, &eve, Role::Member)).await.unwrap();
        let of = |user: &User| ProjectFilter { user_id: Some(user.id), ..Default::default() };
        let (owner, viewer) = (Some(Role::Owner), Some(Role::Viewer));
        for (filter, expected, total) in [
            (of(&ada), vec![(&first, owner), (&third, owner)], 2),
            (of(&bob), vec![(&first, viewer), (&second, owner)], 2),
            (of(&eve), vec![(&first, Some(Role::Member))], 1),
            (ProjectFilter { all: true, ..of(&bob) },
                vec![(&first, viewer), (&second, owner), (&third, None)], 3),
            (ProjectFilter::default(), vec![(&first, None), (&second, None), (&third, None)], 3),
            (ProjectFilter { search: Some("E SEC".to_owned()), ..of(&bob) },
                vec![(&second, owner)], 1),
            (ProjectFilter { page: NumberedPage { page: 2, page_size: 1 }, ..of(&ada) },
                vec![(&third, owner)], 2),
        ] {
            let (found, count) = store.list_projects(&filter).await.unwrap();
            let found: Vec<_> = found.iter().map(|(project, role)| (project, *role)).collect();
            assert_eq!((found, count), (expected, total), "{filter:?}");
        }
    }
}
