"""Messages: sent in every form, answered as a whole, listed with cursors."""

from __future__ import annotations

import uuid

from .functions import count_words
from .testing import MODEL, UNKNOWN, agent, call, check, equal, history, holds, kinds, letta, of_kind
from .testing import only, prompt, refused, say, text_of, tools


@check("a text is answered with a text, a stop reason and usage")
def answered() -> None:
    with agent() as made:
        answer = say(made.id, "say Good morning.")
        equal(kinds(answer.messages), ["assistant_message"], "the messages")
        message = answer.messages[0]
        equal(text_of(message), "Good morning.", "the text")
        holds(message.id.startswith("message-") and message.otid, "its ids")
        holds(message.run_id.startswith("run-") and message.step_id.startswith("step-"), "its step")
        stop = answer.stop_reason
        equal((stop.message_type, stop.stop_reason), ("stop_reason", "end_turn"), "the stop reason")
        usage = answer.usage
        equal((usage.message_type, usage.step_count), ("usage_statistics", 1), "usage")
        holds(usage.prompt_tokens > 0 and usage.completion_tokens > 0, f"tokens: {usage}")
        equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "all tokens")
        equal(letta.agents.retrieve(made.id).last_stop_reason, "end_turn", "the agent's last stop")


@check("reasoning comes before its text with the same id and another otid")
def reasoning() -> None:
    with agent() as made:
        answer = say(made.id, "think It is early.\nsay Good morning.")
        equal(kinds(answer.messages), ["reasoning_message", "assistant_message"], "the messages")
        thought, said = answer.messages
        equal((thought.reasoning, thought.source), ("It is early.", "reasoner_model"), "the thought")
        equal(thought.id, said.id, "one stored message")
        equal(thought.otid[:-2], said.otid[:-2], "otids but for their end")
        equal(int(said.otid[-2:], 16) - int(thought.otid[-2:], 16), 1, "the places in the message")


@check("messages of every form are taken, and kept with their otids")
def forms() -> None:
    with agent() as made:
        create = letta.agents.messages.create
        otid = str(uuid.uuid4())
        create(made.id, messages=[{"role": "user", "content": "say One.", "otid": otid}])
        create(made.id, messages=[{"role": "user", "content": [{"type": "text", "text": "say Two."}]}])
        create(made.id, input=[{"type": "text", "text": "say Three."}])
        create(made.id, messages=[{"role": "system", "content": "say Four."}])
        found = history(made.id)
        users = of_kind(found, "user_message")
        equal([text_of(each) for each in users], ["say One.", "say Two.", "say Three."], "what was sent")
        equal(users[0].otid, otid, "the otid that was given")
        holds(users[1].otid, "an otid where none was given")
        notices = of_kind(found, "system_message")
        equal([text_of(each) for each in notices][1:], ["say Four."], "the notice")
        equal(notices[0].otid, None, "the system prompt's otid")
        texts = [text_of(each) for each in of_kind(found, "assistant_message")]
        equal(texts[:3], ["One.", "Two.", "Three."], "the answers")


@check("requests that say nothing or too much are refused")
def wrong() -> None:
    with agent() as made:
        create = letta.agents.messages.create
        user = [{"role": "user", "content": "Hi."}]
        both = "Cannot specify both 'input' and 'messages'. Use one or the other."
        refused(lambda: create(made.id, input="Hi.", messages=user), 422, both, "both")
        refused(lambda: create(made.id), 422, "Must specify either 'input' or 'messages'.", "neither")
        refused(lambda: create(made.id, messages=[]), 422, "Messages must not be empty", "none")
        robot = [{"role": "robot", "content": "Hi."}]
        refused(lambda: create(made.id, messages=robot), 422, "role", "an unknown role")
        tokens = "stream_tokens can only be true when streaming=true"
        refused(lambda: create(made.id, input="Hi.", stream_tokens=True), 422, tokens, "tokens")
        absent = f"agent-{UNKNOWN}"
        words = f"Agent with ID {absent} not found"
        refused(lambda: say(absent, "Hi."), 404, words, "an unknown agent")
        refused(lambda: letta.agents.messages.stream(absent, input="Hi."), 404, words, "streaming, too")
        unknown = "Handle openai/zzz not found"
        refused(lambda: say(made.id, "Hi.", override_model="openai/zzz"), 404, unknown, "another model")
        stream = letta.agents.messages.stream
        model = {"override_model": "openai/zzz"}
        refused(lambda: stream(made.id, input="Hi.", **model), 404, unknown, "streaming, too")
        equal(kinds(history(made.id)), ["system_message"], "nothing was stored")
        equal(text_of(say(made.id, "say Yes.", override_model=MODEL).messages[0]), "Yes.", "a known one")


@check("the default list is the newest window, the oldest first")
def windows() -> None:
    with agent() as made:
        for word in ("One", "Two", "Three"):
            say(made.id, f"say {word}.")
        whole = history(made.id)
        expected = ["system_message"] + ["user_message", "assistant_message"] * 3
        equal(kinds(whole), expected, "all messages")
        ids = [message.id for message in whole]

        def found(**query: object) -> list:
            return [message.id for message in letta.agents.messages.list(made.id, **query).items]

        equal(found(), ids, "the default")
        equal(found(limit=2), ids[-2:], "a window of two")
        equal(found(limit=2, order="asc"), ids[:2], "the oldest two")
        equal(found(limit=2, before=ids[-2]), ids[-4:-2], "a window before a message")
        equal(found(after=ids[-3]), ids[-2:], "after a message")
        equal(found(after=ids[1], order="asc", limit=2), ids[2:4], "after, the oldest first")
        iterated = [message.id for message in letta.agents.messages.list(made.id, limit=2)]
        equal(iterated, ids[-2:], "the client's own paging ends after the newest window")
        iterated = [message.id for message in letta.agents.messages.list(made.id, limit=2, order="asc")]
        equal(iterated, ids, "and goes through all from the oldest")
        back = [m.id for m in letta.agents.messages.list(made.id, limit=2, before=ids[-2])]
        equal(len(back), len(ids) - 2, "or back from a message")
        unknown = f"message-{UNKNOWN}"
        words = f"No message found with id '{unknown}' for agent '{made.id}'."
        refused(lambda: found(after=unknown), 404, words, "an unknown cursor")


@check("answers and lists are narrowed to types of messages")
def narrowed() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        types = ["tool_return_message"]
        text = call("count_words", text="a b")
        answer = say(made.id, text, include_return_message_types=types)
        equal(kinds(answer.messages), types, "the answer")
        equal((answer.stop_reason.stop_reason, answer.usage.step_count), ("end_turn", 2), "the rest")
        query = {"extra_query": {"include_return_message_types": "assistant_message"}}
        found = letta.agents.messages.list(made.id, **query).items
        equal(kinds(found), ["assistant_message"], "the list")


@check("steps are counted and limited")
def steps() -> None:
    with tools(count_words) as (counts,), agent(tool_ids=[counts.id]) as made:
        endless = call("count_words", text="a") + "\nrepeat"
        answer = say(made.id, endless, max_steps=3)
        equal((answer.stop_reason.stop_reason, answer.usage.step_count), ("max_steps", 3), "the end")
        equal(len(of_kind(answer.messages, "tool_return_message")), 3, "each call had its result")
        equal(text_of(say(made.id, "say Done.").messages[-1]), "Done.", "the next message")


@check("a message is found again by itself and among those of all agents")
def everywhere() -> None:
    with agent() as made:
        answer = say(made.id, "think Hm.\nsay Yes.")
        id = answer.messages[0].id
        found = letta.messages.retrieve(id)
        equal(kinds(found), ["reasoning_message", "assistant_message"], "one stored message")
        newest = letta.messages.list(limit=2)
        newest = newest if isinstance(newest, list) else newest.items
        equal({message.id for message in newest} & {id}, {id}, "the newest messages of all agents")
        gone = f"Message with id message-{UNKNOWN} not found."
        refused(lambda: letta.messages.retrieve(f"message-{UNKNOWN}"), 404, gone, "an unknown one")


@check("agents of older types speak through send_message")
def older() -> None:
    with agent(agent_type="memgpt_v2_agent", include_base_tools=True) as made:
        first = kinds(history(made.id))
        equal(first[0], "system_message", "the first message")
        equal(first[-1], "user_message", "the login")
        holds("assistant_message" in first, f"the greeting: {first}")
        line = call("send_message", message="Hello, Ada.")
        answer = say(made.id, line)
        said = only(answer.messages, "assistant_message")
        equal(text_of(said), "Hello, Ada.", "what it said")
        holds("tool_return_message" not in kinds(answer.messages), "its result is hidden")
        equal(answer.stop_reason.stop_reason, "end_turn", "the end")
        answer = say(made.id, line, use_assistant_message=False)
        equal(only(answer.messages, "tool_call_message").tool_call.name, "send_message", "the call")
        result = only(answer.messages, "tool_return_message")
        holds("Sent message successfully." in result.tool_return, "its result, shown")


@check("the prompt of one request may be another")
def other_prompt() -> None:
    with agent() as made:
        before = prompt(made.id)
        body = {"input": "say Yes.", "override_system": "Be someone else."}
        answer = letta.post(f"/v1/agents/{made.id}/messages", body=body, cast_to=object)
        step = answer["messages"][0]["step_id"]
        sent = str(letta.steps.trace.retrieve(step).request_json)
        holds("Be someone else." in sent, "the prompt that was sent")
        equal(prompt(made.id), before, "the prompt that is stored")


# A picture of one white dot.
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII="
)


@check("pictures are kept with their messages")
def pictures() -> None:
    with agent() as made:
        source = {"type": "base64", "media_type": "image/png", "data": DOT}
        content = [{"type": "text", "text": "say A dot."}, {"type": "image", "source": source}]
        letta.agents.messages.create(made.id, messages=[{"role": "user", "content": content}])
        text, picture = only(history(made.id), "user_message").content
        equal((text.type, text.text), ("text", "say A dot."), "the text")
        equal((picture.type, picture.source.type), ("image", "letta"), "the picture")
        equal((picture.source.media_type, picture.source.data), ("image/png", DOT), "its data")
        holds(picture.source.file_id.startswith("file-"), f"its id: {picture.source}")
