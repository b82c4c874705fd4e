"""Models, and providers that users bring."""

from __future__ import annotations

import os

from .testing import MINE, MODEL, agent, check, delete, equal, get, holds, letta, patch, post, refused
from .testing import say, text_of


def handles() -> list:
    return [model.handle for model in letta.models.list()]


@check("the offline model is listed")
def listed() -> None:
    holds(MODEL in handles(), f"the models: {handles()}")
    found = [model for model in letta.models.list(provider_name="bulkhead") if model.handle == MODEL]
    equal(len(found), 1, "by its provider")
    model = found[0]
    equal((model.name, model.api_model_type), ("scripted", "llm"), "it")
    holds(model.max_context_window > 0, "its window")
    embeddings = letta.models.embeddings.list()
    equal([each for each in embeddings if not each.handle], [], "models of embeddings")


@check("a provider is added, its models are listed and used, and it goes away")
def providers() -> None:
    base_url = os.environ.get("FAKE_OPENAI")
    name = f"{MINE}-own"
    body = {"name": name, "provider_type": "openai", "api_key": "sk-own", "base_url": base_url}
    if base_url is None:
        del body["base_url"]
    made = post("/v1/providers/", body)
    holds(made["id"].startswith("provider-"), f"an id: {made}")
    equal((made["name"], made["provider_type"]), (name, "openai"), "a provider")
    equal(made["provider_category"], "byok", "its category")
    equal([each["id"] for each in get("/v1/providers/", name=name)], [made["id"]], "the list")
    equal(get(f"/v1/providers/{made['id']}")["name"], name, "one that is read")
    if base_url is not None:
        holds(f"{name}/gpt-4o-mini" in handles(), f"its models: {handles()}")
        with agent(model=f"{name}/gpt-4o-mini") as with_it:
            holds(text_of(say(with_it.id, "Hello.").messages[-1]), "an answer of its model")
        found = post(f"/v1/providers/{made['id']}/check", {})
        holds("Valid api key" in found["message"], f"a check: {found}")
    changed = patch(f"/v1/providers/{made['id']}", {"api_key": "sk-other"})
    equal(changed["id"], made["id"], "another key")
    answer = delete(f"/v1/providers/{made['id']}")
    holds("successfully deleted" in answer["message"], f"the answer: {answer}")
    holds(f"{name}/gpt-4o-mini" not in handles(), "its models are gone")
    refused(lambda: get(f"/v1/providers/{made['id']}"), 404, "", "one that is gone")
