//! The commit of a step: all that a step changed, in one transaction.

use bulkhead_domain::{
    Message, Part, Receipt, Run, RunStatus, Step, StopReason, Timestamp, Trace,
    id::{AgentId, ConversationId, MessageId},
    platform::Standing,
};

use super::{
    receipts,
    row::{agent_of_step, expect_own, put_step},
    trace::put_trace,
};
use crate::{
    Result, RunUpdate, SleeptimeTurn, Store, StoreError, compiled_here,
    group::count_turn,
    message::{insert_messages, missing, record, replace_content, select},
    receipt::insert_receipt,
    run::{apply_update, run_of, run_to_change},
    sql::{Durability, Statement, Transaction},
    thread::LockedThread,
};

/// What a step changed. Any part may be empty, so that the same commit serves a step that
/// failed or was cancelled, a reset, and a compaction.
#[derive(Debug, Clone)]
pub struct StepCommit {
    /// The agent.
    pub agent_id: AgentId,
    /// The conversation; none for the agent's default thread.
    pub conversation_id: Option<ConversationId>,
    /// New messages of this thread, in order.
    pub messages: Vec<Message>,
    /// New content of the thread's system message.
    pub system: Option<SystemContent>,
    /// The messages that the model sees from now on.
    pub context: Option<ContextChange>,
    /// Whether to delete the thread's messages that are not in its context then. Those that
    /// another thread of the agent has in its context stay.
    pub forget_others: bool,
    /// The step, in place of what is stored of it. Feedback, tags and transaction that a client
    /// gave it meanwhile stay where this has none.
    pub step: Option<Step>,
    /// What providers were sent and answered in it.
    pub traces: Vec<Trace>,
    /// The receipts of its tool calls, each with the id of the call.
    pub receipts: Vec<(String, Receipt)>,
    /// What becomes of the run.
    pub run: Option<RunUpdate>,
    /// Why the agent stopped, where it did.
    pub last_stop_reason: Option<StopReason>,
    /// Whether an agent that waits for an approval goes on waiting for it: why it stopped is not
    /// written then. For a run that ended before it worked.
    pub keeps_request: bool,
    /// Whether nothing is written where a person has paused or terminated the agent. For work that
    /// is no run, so that nobody cancels it then.
    pub expects_active: bool,
    /// What the runs of the agents that look after this one's memory begin as: the run completes with
    /// this commit, and counts as a request to this agent where it does.
    pub sleeptime: Option<Run>,
    /// When all this is so.
    pub at: Timestamp,
}

/// Content that takes the place of a system message's; the message keeps its id.
#[derive(Debug, Clone)]
pub struct SystemContent {
    /// The message.
    pub message_id: MessageId,
    /// Its content from now on.
    pub content: Vec<Part>,
}

/// A change of the messages that a model sees.
#[derive(Debug, Clone)]
pub struct ContextChange {
    /// What was read before the step. Where something else is stored by now, nothing of the
    /// commit is written.
    pub expected: Vec<MessageId>,
    /// What it is from now on: messages of the commit and of the agent, each once, at most
    /// [`crate::thread::CONTEXT_MAX`].
    pub next: Vec<MessageId>,
}

/// What a commit left.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The run, where the commit named one. A run that was ended by somebody else is as that
    /// one left it: this is where an agent sees that it was cancelled.
    pub run: Option<Run>,
    /// What those that look after the agent's memory are to do now.
    pub sleeptime: Option<SleeptimeTurn>,
    /// How the agent stood: this is where a run that goes on sees that a person paused or terminated
    /// its agent, whoever was to cancel it.
    pub standing: Standing,
}

impl StepCommit {
    /// A commit that changes nothing yet, now.
    pub fn new(agent_id: AgentId, conversation_id: Option<ConversationId>) -> Self {
        Self {
            agent_id,
            conversation_id,
            messages: Vec::new(),
            system: None,
            context: None,
            forget_others: false,
            step: None,
            traces: Vec::new(),
            receipts: Vec::new(),
            run: None,
            last_stop_reason: None,
            keeps_request: false,
            expects_active: false,
            sleeptime: None,
            at: Timestamp::now(),
        }
    }
}

impl Store {
    /// Writes what a step changed: all of it or, on an error, nothing.
    ///
    /// [`StoreError::ThreadChanged`] where the context is not the expected one, so that two
    /// servers that share a database cannot mix their steps. [`StoreError::NotFound`] where the
    /// agent, the conversation, the run or a message of the new context is not there.
    /// [`StoreError::AgentPaused`] and [`StoreError::AgentTerminated`] where the commit
    /// [expects](StepCommit::expects_active) an active agent.
    #[compiled_here]
    pub async fn commit_step(&self, commit: &StepCommit) -> Result<Committed> {
        commit.check()?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        let (agent, conversation) = (commit.agent_id, commit.conversation_id);
        // All that must be known is read at once.
        let mut queries = LockedThread::queries(&transaction, agent, conversation);
        queries.extend(commit.step.as_ref().map(agent_of_step));
        let run = commit.run.as_ref();
        queries.extend(run.map(|update| run_to_change(&transaction, &update.id)));
        let mut answers = transaction.each(queries).await?.into_iter();
        let thread = LockedThread::of(agent, conversation, &mut answers)?;
        if commit.expects_active {
            thread.expect_active()?;
        }
        if let Some(step) = &commit.step {
            expect_own(step, &answers.next().unwrap_or_default())?;
        }
        commit.write_messages(&mut transaction, &thread).await?;
        commit.write_step(&mut transaction).await?;
        let run = match run {
            None => None,
            Some(update) => {
                let run = run_of(&update.id, &answers.next().unwrap_or_default())?;
                let applied = apply_update(&mut transaction, &agent, run, update);
                Some(applied.await?)
            }
        };
        // What ended the run first is why the agent stopped.
        let stopped = run.as_ref().and_then(|run| run.stop_reason);
        let reason = commit.last_stop_reason.map(|own| stopped.unwrap_or(own));
        commit
            .write_agent(&mut transaction, &thread, reason)
            .await?;
        let completed = |run: &&Run| run.status == RunStatus::Completed;
        let sleeptime = match (&commit.sleeptime, run.as_ref().filter(completed)) {
            (Some(first), Some(_)) => count_turn(&mut transaction, &agent, first).await?,
            _ => None,
        };
        transaction.commit().await?;
        Ok(Committed {
            run,
            sleeptime,
            standing: thread.standing,
        })
    }
}

impl StepCommit {
    /// Refuses parts that do not belong together.
    fn check(&self) -> Result<()> {
        let invalid = |what, reason| Err(StoreError::Invalid { what, reason });
        let of_thread = |message: &Message| {
            message.agent_id == self.agent_id && message.conversation_id == self.conversation_id
        };
        if !self.messages.iter().all(of_thread) {
            return invalid("a message of the step", "is of another thread");
        }
        let of_agent = |step: &Step| step.agent_id == self.agent_id;
        if !self.step.iter().all(of_agent) {
            return invalid("the step", "is of another agent");
        }
        let step_id = self.step.as_ref().map(|step| step.id);
        let of_step =
            |trace: &Trace| trace.agent_id == self.agent_id && Some(trace.step_id) == step_id;
        if !self.traces.iter().all(of_step) {
            return invalid("a trace of the step", "is of another step");
        }
        if step_id.is_none() && !self.receipts.is_empty() {
            return invalid("the commit", "has receipts and no step that they are of");
        }
        if self.forget_others && self.context.is_none() {
            return invalid("the commit", "forgets messages and does not say which stay");
        }
        if self.keeps_request && (self.context.is_some() || !self.messages.is_empty()) {
            return invalid(
                "the commit",
                "keeps a request for approval and changes the thread",
            );
        }
        Ok(())
    }

    async fn write_messages(
        &self,
        transaction: &mut Transaction,
        thread: &LockedThread,
    ) -> Result<()> {
        if let Some(context) = &self.context {
            thread.expect(&context.expected)?;
        }
        insert_messages(transaction, &self.messages).await?;
        if let Some(system) = &self.system {
            let mut query = select();
            query
                .push(" WHERE id = ")
                .push_value(system.message_id.to_string());
            query
                .push(" AND agent_id = ")
                .push_value(self.agent_id.to_string());
            let row = transaction.optional(query).await?;
            let former = record(&row.ok_or_else(|| missing(system.message_id))?)?;
            replace_content(transaction, former, &system.content).await?;
        }
        if let Some(context) = &self.context {
            let new = self.messages.iter().map(|message| message.id);
            let known = context.expected.iter().copied().chain(new);
            thread
                .expect_messages(transaction, &context.next, known)
                .await?;
            if self.forget_others {
                thread.forget_all_but(transaction, &context.next).await?;
            }
        }
        Ok(())
    }

    async fn write_step(&self, transaction: &mut Transaction) -> Result<()> {
        let Some(step) = &self.step else {
            return Ok(());
        };
        put_step(transaction, step).await?;
        for trace in &self.traces {
            put_trace(transaction, trace).await?;
        }
        let new = self.receipts.iter().map(|(_, receipt)| receipt);
        receipts::add_fuel(transaction, &step.id, new).await?;
        for (tool_call_id, receipt) in &self.receipts {
            insert_receipt(transaction, receipt).await?;
            receipts::link(transaction, &step.id, tool_call_id, &receipt.id).await?;
        }
        Ok(())
    }

    async fn write_agent(
        &self,
        transaction: &mut Transaction,
        thread: &LockedThread,
        reason: Option<StopReason>,
    ) -> Result<()> {
        let next = self.context.as_ref().map(|context| context.next.as_slice());
        let has_messages = !self.messages.is_empty();
        if next.is_some() || has_messages {
            thread
                .write(transaction, next, has_messages, reason, self.at)
                .await?;
        }
        // Who looks at the agent looks for what it waits for: what a conversation came to hides no
        // request of the default thread.
        let hides = reason.is_some() && self.conversation_id.is_some();
        if hides && thread.default_waits(transaction).await? {
            return Ok(());
        }
        // The default thread is the agent, which has it by now.
        let is_written = self.conversation_id.is_none() && (next.is_some() || has_messages);
        match reason {
            Some(reason) if self.keeps_request => {
                write_unless_waiting(transaction, &self.agent_id, reason, self.at).await
            }
            Some(reason) if !is_written => {
                write_stop_reason(transaction, &self.agent_id, reason, self.at).await
            }
            _ => Ok(()),
        }
    }
}

/// Writes why an agent stopped, unless it waits for an approval.
async fn write_unless_waiting(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    reason: StopReason,
    at: Timestamp,
) -> Result<()> {
    let update = "UPDATE agents SET last_stop_reason = $2, updated_at = $3 WHERE id = $1
        AND (last_stop_reason IS NULL OR last_stop_reason <> $4)";
    let update = Statement::new(update)
        .bind(agent_id.to_string())
        .bind(reason.as_str())
        .bind(at)
        .bind(StopReason::RequiresApproval.as_str());
    transaction.defer(update).await
}

/// Writes why an agent stopped.
pub(crate) async fn write_stop_reason(
    transaction: &mut Transaction,
    agent_id: &AgentId,
    reason: StopReason,
    at: Timestamp,
) -> Result<()> {
    let update = "UPDATE agents SET last_stop_reason = $2, updated_at = $3 WHERE id = $1";
    let update = Statement::new(update)
        .bind(agent_id.to_string())
        .bind(reason.as_str())
        .bind(at);
    transaction.defer(update).await
}
