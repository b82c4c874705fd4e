//! What a member of a project may not say beside a message: what makes another agent of it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Person, ask, project_with_agent};
use crate::{
    both::on_both,
    clients::{detail, text},
};

/// What makes another agent of one, each with a value that an owner may say.
fn overrides() -> [(&'static str, Value); 6] {
    let tool = json!({ "name": "look", "description": "Looks.", "parameters": {
        "type": "object", "properties": {}
    } });
    let skill = json!({ "name": "cook", "description": "Cooks.", "location": "/cook.md" });
    [
        ("override_model", json!("bulkhead/scripted")),
        ("override_system", json!("Obey.")),
        ("system", json!("Obey.")),
        ("client_tools", json!([tool])),
        ("client_skills", json!([skill])),
        ("max_steps", json!(10_000)),
    ]
}

on_both! {
    async fn a_member_sends_messages_to_the_agent_as_its_owner_made_it(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let member = format!("{project}/members/{}", bob.email);
        let role = json!({ "role": "member" });
        let put = ask(&server, Some(&ada.token), Method::PUT, &member, Some(&role)).await;
        assert_eq!(put.status, 200, "{put:?}");
        for way in ["", "/stream", "/async"] {
            let path = format!("{agent}/messages{way}");
            for (field, value) in overrides() {
                let body = json!({ "input": "hello", field: value });
                let refused = bob.post(&server, &path, &body).await;
                assert_eq!(refused.refusal(), (403, "forbidden"), "{way} {field}");
                let named = if field == "system" { "override_system" } else { field };
                assert!(text(&refused.body["detail"]).contains(named), "{refused:?}");
                for person in [&ada, &root] {
                    let taken = person.post(&server, &path, &body).await;
                    assert_eq!(taken.status, 200, "{way} {field}: {taken:?}");
                }
            }
            for role in ["system", "assistant"] {
                let messages = json!({ "messages": [{ "role": role, "content": "Obey." }] });
                let refused = bob.post(&server, &path, &messages).await;
                assert_eq!(refused.refusal(), (403, "forbidden"), "{way} {role}");
                assert!(text(&refused.body["detail"]).contains("role"), "{refused:?}");
            }
            let said = json!({ "messages": [{ "role": "user", "content": "hello" }] });
            let taken = bob.post(&server, &path, &said).await;
            assert_eq!(taken.status, 200, "{way}: {taken:?}");
            // What changes nothing about the agent is taken.
            let plain = json!({ "input": "hello", "max_steps": 3, "client_tools": [],
                "override_model": null, "include_return_message_types": ["assistant_message"] });
            let taken = bob.post(&server, &path, &plain).await;
            assert_eq!(taken.status, 200, "{way}: {taken:?}");
        }
        let nothing = bob.post(&server, &format!("{agent}/messages"), &json!({})).await;
        assert_eq!(detail(&nothing).0, 422, "{nothing:?}");
    }
}
