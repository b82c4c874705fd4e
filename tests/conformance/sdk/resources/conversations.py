"""Conversations: histories of one agent that don't know of each other."""

from __future__ import annotations

import threading

from .events import Pieces, well_formed
from .testing import UNKNOWN, agent, check, equal, history, holds, kinds, letta, of_kind, only, post
from .testing import refused, say, text_of, until


def talk(conversation_id: str, text: str, **body: object):
    """One message and its answer as a whole, for which the client has no type."""
    body = {"input": text, "streaming": False, **body}
    return post(f"/v1/conversations/{conversation_id}/messages", body)


def listed(conversation_id: str, **query: object) -> list:
    """One page: `after` is always the newer side here, so that the client's own paging goes astray."""
    return letta.conversations.messages.list(conversation_id, **query).items


@check("a conversation is made, read, renamed, listed and deleted")
def one() -> None:
    with agent() as made:
        first = letta.conversations.create(agent_id=made.id, summary="First")
        holds(first.id.startswith("conv-"), f"an id: {first.id}")
        equal((first.agent_id, first.summary), (made.id, "First"), "a conversation")
        second = letta.conversations.create(agent_id=made.id)
        equal(letta.conversations.retrieve(first.id).summary, "First", "one that is read")
        renamed = letta.conversations.update(first.id, summary="Other")
        equal(renamed.summary, "Other", "one that is renamed")
        found = [each.id for each in letta.conversations.list(agent_id=made.id)]
        equal(found, [second.id, first.id], "the list, the newest first")
        found = [each.id for each in letta.conversations.list(agent_id=made.id, limit=1, order="asc")]
        equal(found, [first.id], "the oldest first")
        found = letta.conversations.list(agent_id=made.id, summary_search="oth")
        equal([each.id for each in found], [first.id], "by words")
        letta.conversations.delete(first.id)
        refused(lambda: letta.conversations.retrieve(first.id), 404, "", "one that is gone")
        found = [each.id for each in letta.conversations.list(agent_id=made.id)]
        equal(found, [second.id], "the list without it")
        absent = f"agent-{UNKNOWN}"
        words = f"Agent with ID {absent} not found"
        refused(lambda: letta.conversations.create(agent_id=absent), 404, words, "of an unknown agent")


@check("messages stream unless they are told not to, and stay in their conversation")
def messages() -> None:
    with agent(memory_blocks=[{"label": "human", "value": "Ada"}]) as made:
        say(made.id, "say Outside.")
        inside = letta.conversations.create(agent_id=made.id)
        events = list(letta.conversations.messages.create(inside.id, input="say Inside."))
        equal([text_of(each) for each in well_formed(events)], ["Inside."], "the stream")
        run = letta.runs.retrieve(events[0].run_id)
        equal(run.conversation_id, inside.id, "its run")
        answer = talk(inside.id, "say Again.")
        equal(answer["messages"][0]["content"], "Again.", "a whole answer")
        equal(answer["stop_reason"]["stop_reason"], "end_turn", "its end")
        found = listed(inside.id)
        expected = ["assistant_message", "user_message"] * 2 + ["system_message"]
        equal(kinds(found), expected, "the list, the newest first")
        prompt = text_of(found[-1])
        holds(f"- CONVERSATION_ID: {inside.id}" in prompt and "Ada" in prompt, "its own prompt")
        texts = [text_of(each) for each in of_kind(history(made.id), "assistant_message")]
        equal(texts, ["Outside.", "Inside.", "Again."], "all that the agent said")
        own = [text_of(each) for each in history(made.id, conversation_id="default")]
        equal(own[1:], ["say Outside.", "Outside."], "the agent's own history")
        holds("- CONVERSATION_ID: default" in own[0], "the agent's own prompt")
        oldest = [each.id for each in listed(inside.id, order="asc", limit=2)]
        equal(oldest, [each.id for each in found[::-1]][:2], "the oldest first")
        older = [each.id for each in listed(inside.id, before=found[1].id, limit=2)]
        equal(older, [each.id for each in found[2:4]], "what is older than a message")
        newer = [each.id for each in listed(inside.id, after=found[1].id)]
        equal(newer, [found[0].id], "what is newer")
        state = letta.conversations.retrieve(inside.id)
        equal(len(state.in_context_message_ids), 5, "messages in context")
        holds(state.last_message_at is not None, "the time of the last message")


@check("the agent's own history is a conversation, by its name or the agent's")
def default() -> None:
    with agent() as made:
        equal(talk("default", "say One.", agent_id=made.id)["messages"][0]["content"], "One.", "default")
        equal(talk(made.id, "say Two.")["messages"][0]["content"], "Two.", "the agent's id")
        texts = [text_of(each) for each in of_kind(history(made.id), "assistant_message")]
        equal(texts, ["One.", "Two."], "the agent's messages")
        found = listed("default", agent_id=made.id)
        equal(len(found), 5, "its list")


@check("a conversation takes one message at a time")
def busy() -> None:
    with agent() as made:
        inside = letta.conversations.create(agent_id=made.id)
        words = f"No active runs to cancel for conversation {inside.id}"
        refused(lambda: letta.conversations.cancel(inside.id), 409, words, "nothing to cancel")
        events: list = []

        def stream() -> None:
            create = letta.conversations.messages.create
            events.extend(create(inside.id, input="wait 20s\nsay Late.", stream_tokens=True))

        thread = threading.Thread(target=stream)
        thread.start()
        runs = until("a run", lambda: letta.runs.list(conversation_id=inside.id, active=True).items)
        words = f"Another request (run_id={runs[0].id}) is currently being processed"
        refused(lambda: talk(inside.id, "say No."), 409, words, "a second message")
        equal(letta.conversations.cancel(inside.id), {runs[0].id: "cancelled"}, "the cancellation")
        thread.join()
        equal(of_kind(events, "stop_reason")[0].stop_reason, "cancelled", "the stream")
        until("its end", lambda: letta.runs.retrieve(runs[0].id).status == "cancelled")
        equal(talk(inside.id, "say Yes.")["messages"][0]["content"], "Yes.", "the next message")


@check("a conversation is forked, compacted and compiled anew")
def kept_up() -> None:
    with agent() as made:
        inside = letta.conversations.create(agent_id=made.id)
        for word in ("One", "Two", "Three"):
            talk(inside.id, f"say {word}.")
        if hasattr(letta.conversations, "fork"):
            other = letta.conversations.fork(inside.id)
            talk(other.id, "say Elsewhere.")
            equal(len(other.in_context_message_ids), 7, "messages of the fork")
            texts = [text_of(each) for each in listed(inside.id) if each.message_type != "system_message"]
            holds("Elsewhere." not in texts, f"the original: {texts}")
        done = letta.conversations.messages.compact(inside.id, compaction_settings={"mode": "all"})
        equal((done.num_messages_before, done.num_messages_after), (7, 2), "the compaction")
        text = letta.conversations.recompile(inside.id, dry_run=True)
        holds(f"CONVERSATION_ID: {inside.id}" in text, "the prompt")


@check("a conversation may have a model of its own, and tokens stream in it")
def own_model() -> None:
    with agent() as made:
        inside = letta.conversations.create(agent_id=made.id, model="bulkhead/scripted")
        equal(inside.model, "bulkhead/scripted", "its model")
        create = letta.conversations.messages.create
        events = list(create(inside.id, input="think Hm.\nsay Piece by piece.", stream_tokens=True))
        pieces = Pieces()
        for message in well_formed(events):
            pieces.add(message)
        equal([each[-1] for each in pieces.seen()], ["Hm.", "Piece by piece."], "the pieces")
        stored = only(listed(inside.id), "reasoning_message")
        equal(stored.id, pieces.seen()[0][1], "the id of the list")
