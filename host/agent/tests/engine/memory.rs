//! Memory that several threads and agents see, and what is found of a conversation.

use bulkhead_agent::RecompileOptions;
use bulkhead_domain::{
    AgentType, Block, Conversation, Message, Role,
    id::{AgentId, BlockId, ConversationId},
};

use crate::world::{Setup, World, said};

/// Begins a conversation whose system message is the agent's of now, with own blocks.
pub(crate) async fn conversation(
    world: &World,
    agent: AgentId,
    isolated: Vec<BlockId>,
) -> ConversationId {
    let mut conversation = Conversation::new(agent);
    let mut system = Message::text(agent, Role::System, "old");
    system.conversation_id = Some(conversation.id);
    conversation.in_context_message_ids = vec![system.id];
    conversation.isolated_block_ids = isolated;
    let messages = [system];
    let made = world.store.create_conversation(&conversation, &messages);
    made.await.unwrap();
    let options = RecompileOptions::default();
    let made = world
        .engine
        .recompile(agent, Some(conversation.id), options);
    made.await.unwrap();
    conversation.id
}

/// The system message as it is stored.
async fn system(world: &World, agent: AgentId, thread: Option<ConversationId>) -> String {
    let first = match thread {
        None => {
            world
                .store
                .agent(&agent)
                .await
                .unwrap()
                .unwrap()
                .message_ids[0]
        }
        Some(id) => {
            let stored = world.store.conversation(&id).await.unwrap().unwrap();
            stored.in_context_message_ids[0]
        }
    };
    let message = world.store.message(&first).await.unwrap().unwrap();
    message.plain_text()
}

async fn human(world: &World, agent: AgentId) -> Block {
    let block = world.store.block_of_agent(&agent, "human").await;
    block.unwrap().unwrap()
}

#[tokio::test]
async fn what_a_tool_remembers_is_seen_in_every_thread_of_all_agents_that_share_the_block() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let other = world.agent(Setup::default()).await;
    let stranger = world.agent(Setup::default()).await;
    let shared = human(&world, agent).await;
    let own = human(&world, other).await;
    world.store.detach_block(&other, &own.id).await.unwrap();
    world.store.attach_block(&other, &shared.id).await.unwrap();
    let mut private = shared.clone();
    private.id = BlockId::random();
    private.value = "Name: Nobody".to_owned();
    world.store.create_block(&private).await.unwrap();
    let beside = conversation(&world, agent, Vec::new()).await;
    let others = conversation(&world, other, Vec::new()).await;
    let apart = conversation(&world, agent, vec![private.id]).await;
    let before = system(&world, agent, Some(apart)).await;
    let strange = system(&world, stranger, None).await;
    world
        .say(
            agent,
            "call remember with {\"x\": \"Name: Ada\"}\nthen\nsay ok",
        )
        .await;
    for (agent, thread) in [
        (agent, None),
        (agent, Some(beside)),
        (other, None),
        (other, Some(others)),
    ] {
        let text = system(&world, agent, thread).await;
        assert!(text.contains("Name: Ada"), "{thread:?}: {text}");
    }
    assert_eq!(system(&world, agent, Some(apart)).await, before);
    assert_eq!(system(&world, stranger, None).await, strange);
    // From a conversation to the default thread.
    let mut request = said(
        agent,
        "call remember with {\"x\": \"Name: Eve\"}\nthen\nsay ok",
    );
    request.conversation_id = Some(beside);
    world.send(request).await.unwrap();
    assert!(system(&world, agent, None).await.contains("Name: Eve"));
    assert!(
        system(&world, other, Some(others))
            .await
            .contains("Name: Eve")
    );
    world.agrees(agent).await;
    world.agrees(other).await;
}

#[tokio::test]
async fn what_a_conversation_remembers_in_a_block_of_its_own_changes_no_other_thread() {
    let world = World::new().await;
    let agent = world.agent(Setup::default()).await;
    let mut private = human(&world, agent).await;
    private.id = BlockId::random();
    world.store.create_block(&private).await.unwrap();
    let apart = conversation(&world, agent, vec![private.id]).await;
    let before = system(&world, agent, None).await;
    let mut request = said(
        agent,
        "call remember with {\"x\": \"Name: Eve\"}\nthen\nsay ok",
    );
    request.conversation_id = Some(apart);
    world.send(request).await.unwrap();
    assert!(
        system(&world, agent, Some(apart))
            .await
            .contains("Name: Eve")
    );
    assert_eq!(system(&world, agent, None).await, before);
}

#[tokio::test]
async fn a_search_is_not_filled_by_what_former_searches_gave() {
    let world = World::new().await;
    let setup = Setup {
        tools: &["conversation_search"],
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    world.say(agent, "say The parrot is green.").await;
    let mut found = Vec::new();
    for _ in 0..4 {
        let outcome = world
            .say(
                agent,
                "call conversation_search with {\"x\": \"parrot green\"}\nthen\nsay ok",
            )
            .await;
        let returned = outcome
            .messages
            .iter()
            .find(|message| message.role == Role::Tool);
        found.push(returned.unwrap().tool_returns[0].text.clone());
    }
    assert_eq!(found, ["assistant: The parrot is green."; 4]);
}

#[tokio::test]
async fn what_an_older_agent_said_by_its_tool_is_found_and_is_its_answer_to_others() {
    let world = World::new().await;
    let older = world
        .agent(Setup {
            agent_type: AgentType::MemgptV2Agent,
            tools: &["send_message", "conversation_search"],
            ..Setup::default()
        })
        .await;
    let asking = world
        .agent(Setup {
            tools: &["ask"],
            ..Setup::default()
        })
        .await;
    let outcome = world
        .say(
            asking,
            &format!("call ask with {{\"x\": \"{older}\"}}\nthen\nsay ok"),
        )
        .await;
    let returned = outcome
        .messages
        .iter()
        .find(|message| message.role == Role::Tool);
    let answer = &returned.unwrap().tool_returns[0].text;
    let history = world.history(older).await;
    let mut said = history.iter().rev();
    let said = said.find(|message| message.role == Role::Assistant);
    let said = said.unwrap();
    assert_eq!(said.tool_calls[0].name, "send_message");
    assert!(said.plain_text().is_empty() && !answer.is_empty());
    assert_eq!(*answer, said.spoken());
    let search = bulkhead_store::MessageSearch {
        agent_id: Some(older),
        query: Some(answer.clone()),
        roles: Some(vec![Role::Assistant]),
        with_text: true,
        ..Default::default()
    };
    let found = world.store.search_messages(&search).await.unwrap();
    assert_eq!((found[0].0.id, found[0].1), (said.id, 1.0));
}

#[tokio::test]
async fn text_beside_a_call_that_waits_is_found_as_the_agents() {
    let world = World::new().await;
    let setup = Setup {
        tools: &["echo", "conversation_search"],
        rules: serde_json::json!([{"type": "requires_approval", "tool_name": "echo"}]),
        ..Setup::default()
    };
    let agent = world.agent(setup).await;
    let asked = world.say(agent, "say Zebras graze.\ncall echo").await;
    let call = asked.messages.last().unwrap().tool_calls[0].id.clone();
    world.decide(agent, &[(&call, false)]).await.unwrap();
    let outcome = world
        .say(
            agent,
            "call conversation_search with {\"x\": \"zebras\"}\nthen\nsay ok",
        )
        .await;
    let returned = outcome
        .messages
        .iter()
        .find(|message| message.role == Role::Tool);
    let text = &returned.unwrap().tool_returns[0].text;
    assert_eq!(text, "assistant: Zebras graze.");
}
