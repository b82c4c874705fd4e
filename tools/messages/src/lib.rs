//! The built-in tools by which an agent sends messages: to its user, and to other agents.
//!
//! The host puts the sender before each message. - [`reply`]: what comes back.

mod reply;

use bulkhead_sdk::{Error, agents, tool, tools};

use self::reply::{Replies, Reply};

/// Send a message to the user.
///
/// It is the only way to speak: nothing else of an answer is shown to the user.
#[tool(title = "Speak to the user")]
fn send_message(
    /// What to say. All of Unicode, emoji too.
    message: String,
) -> &'static str {
    // Whoever shows the conversation reads the message from the call.
    let _ = message;
    "Sent message successfully."
}

/// Send a message to another agent and wait for its answer.
///
/// The other agent sees who the message is from. The result is what it answers.
#[tool(title = "Ask another agent", open_world, wishes(agents("*")))]
fn send_message_to_agent_and_wait_for_reply(
    /// The message.
    message: String,
    /// The id of the other agent, which begins with agent-.
    other_agent_id: String,
) -> Result<Reply, Error> {
    let answer = agents::ask(&other_agent_id, &message);
    answer
        .map(Reply::from)
        .map_err(|error| reply::explained(error, &other_agent_id))
}

/// Send a message to another agent without waiting for an answer.
///
/// The other agent sees who the message is from, and answers, if at all, with a message of its own.
#[tool(title = "Notify another agent", open_world, wishes(agents("*")))]
fn send_message_to_agent_async(
    /// The message.
    message: String,
    /// The id of the other agent, which begins with agent-.
    other_agent_id: String,
) -> Result<&'static str, Error> {
    agents::send(&other_agent_id, &message)
        .map_err(|error| reply::explained(error, &other_agent_id))?;
    Ok("Successfully sent message")
}

/// Send a message to every agent with certain tags and wait for their answers.
///
/// The result is a list of what each of them answers.
#[tool(title = "Ask agents by tags", open_world, wishes(agents("*")))]
fn send_message_to_agents_matching_tags(
    /// The message.
    message: String,
    /// Tags all of which an agent must have; may be empty.
    match_all: Vec<String>,
    /// Tags one of which an agent must have; may be empty.
    match_some: Vec<String>,
) -> Result<Replies, Error> {
    let all: Vec<_> = match_all.iter().map(String::as_str).collect();
    let some: Vec<_> = match_some.iter().map(String::as_str).collect();
    let answers = agents::ask_matching(&message, &all, &some)?;
    Ok(answers.into_iter().map(Reply::from).collect())
}

tools![
    send_message,
    send_message_to_agent_and_wait_for_reply,
    send_message_to_agent_async,
    send_message_to_agents_matching_tags,
];
