"""People and passages that belong to agents."""

from __future__ import annotations

from .testing import MINE, agent, check, delete, equal, get, holds, letta, patch, post, refused


@check("identities are made, attached, looked for and deleted")
def identities() -> None:
    key = f"{MINE}-ada"
    body = {"identifier_key": key, "name": "Ada", "identity_type": "user"}
    made = post("/v1/identities/", body)
    holds(made["id"].startswith("identity-"), f"an id: {made}")
    equal((made["name"], made["agent_ids"]), ("Ada", []), "an identity")
    renamed = patch(f"/v1/identities/{made['id']}", {"name": "Ada L."})
    equal(renamed["name"], "Ada L.", "another name")
    equal([each["id"] for each in get("/v1/identities/", identifier_key=key)], [made["id"]], "a list")
    with agent(identity_ids=[made["id"]]) as first, agent() as second:
        equal([each.name for each in first.identities], ["Ada L."], "of a new agent")
        letta.agents.identities.attach(made["id"], agent_id=second.id)
        found = [each.id for each in letta.agents.list(identifier_keys=[key])]
        equal(found, [second.id, first.id], "the agents of a key")
        letta.agents.identities.detach(made["id"], agent_id=first.id)
        found = [each.id for each in letta.agents.list(identity_id=made["id"])]
        equal(found, [second.id], "the agents of an identity")
        state = letta.agents.retrieve(second.id, include=["agent.identities"])
        equal([each.id for each in state.identities], [made["id"]], "of an agent that is read")
    delete(f"/v1/identities/{made['id']}")
    refused(lambda: get(f"/v1/identities/{made['id']}"), 404, "", "one that is gone")


@check("passages are stored, listed, searched and deleted")
def passages() -> None:
    with agent() as made:
        create = letta.agents.passages.create
        first = create(made.id, text="Ada keeps bees.", tags=["pets"])
        equal(len(first), 1, "the answer is a list")
        equal((first[0].text, first[0].tags), ("Ada keeps bees.", ["pets"]), "a passage")
        second = create(made.id, text="Ada drinks tea.", tags=["drinks"])[0]
        found = [each.text for each in letta.agents.passages.list(made.id)]
        equal(found, ["Ada keeps bees.", "Ada drinks tea."], "the list, the oldest first")
        found = [each.text for each in letta.agents.passages.list(made.id, ascending=False, limit=1)]
        equal(found, ["Ada drinks tea."], "the newest first")
        found = [each.text for each in letta.agents.passages.list(made.id, search="bees")]
        equal(found, ["Ada keeps bees."], "by words")
        search = letta.agents.passages.search
        found = search(made.id, query="bees")
        equal((found.count, found.results[0].content), (1, "Ada keeps bees."), "the search")
        found = search(made.id, query="Ada", tags=["drinks"])
        equal([each.id for each in found.results], [second.id], "with tags")
        letta.agents.passages.delete(second.id, agent_id=made.id)
        equal(len(letta.agents.passages.list(made.id)), 1, "after a deletion")
