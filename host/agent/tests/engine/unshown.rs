//! Memory that tools write, and the system message that shows it.

use bulkhead_agent::Listener;
use bulkhead_domain::{Message, Role};
use bulkhead_store::{ContextChange, StepCommit};

use crate::world::{Setup, World, said};

#[tokio::test]
async fn memory_that_was_written_in_a_step_that_is_not_stored_is_in_the_system_message() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let script = "call remember with {\"x\": \"Name: Ann\"}\ncall hang";
    let begun = world.engine.begin(said(agent, script)).await.unwrap();
    let run = begun.id();
    let engine = world.engine.clone();
    let driven = tokio::spawn(async move { engine.drive(begun, Listener::none()).await });
    let written = async {
        loop {
            let blocks = world.store.blocks_of(&[agent]).await.unwrap();
            if blocks[&agent][0].value == "Name: Ann" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    let written = tokio::time::timeout(std::time::Duration::from_secs(20), written).await;
    written.expect("the tool writes");
    // Somebody else changes the thread, so that the step can't be stored.
    let context = world
        .store
        .agent(&agent)
        .await
        .unwrap()
        .unwrap()
        .message_ids;
    let meanwhile = Message::text(agent, Role::User, "meanwhile");
    let mut commit = StepCommit::new(agent, None);
    let mut next = context.clone();
    next.push(meanwhile.id);
    commit.messages = vec![meanwhile];
    commit.context = Some(ContextChange {
        expected: context.clone(),
        next,
    });
    world.store.commit_step(&commit).await.unwrap();
    assert!(world.engine.cancel_run(run));
    driven.await.unwrap().unwrap_err();
    let system = world.store.message(&context[0]).await.unwrap().unwrap();
    assert!(
        system.plain_text().contains("Name: Ann"),
        "{}",
        system.plain_text()
    );
    assert_eq!(world.words(agent).await, "user");
}
