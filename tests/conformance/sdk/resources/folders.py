"""Folders, their files, and agents that read them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from .testing import MINE, agent, call, check, equal, holds, letta, only, refused, say, until

EMBEDDING = {
    "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8,
}


@contextmanager
def folder(name: str) -> Iterator:
    """A folder, deleted afterwards."""
    made = letta.folders.create(name=f"{MINE}-{name}", embedding_config=EMBEDDING)
    try:
        yield made
    finally:
        letta.folders.delete(made.id)


def upload(folder_id: str, name: str, text: str, **settings: object):
    """A file whose text can be searched."""
    sent = letta.folders.files.upload(folder_id, file=(name, text.encode()), **settings)
    def completed() -> bool:
        found = letta.folders.files.list(folder_id)
        return [each.processing_status for each in found if each.id == sent.id] == ["completed"]
    until("a file is read", completed)
    return sent


@check("folders are made, listed, changed and deleted")
def folders() -> None:
    with folder("docs") as made:
        holds(made.id.startswith("source-"), f"an id: {made.id}")
        equal(letta.folders.retrieve(made.id).name, made.name, "a folder that is read")
        equal([each.id for each in letta.folders.list(name=made.name)], [made.id], "by its name")
        changed = letta.folders.update(made.id, description="Texts.")
        equal(changed.description, "Texts.", "a description")
        again = lambda: letta.folders.create(name=made.name, embedding_config=EMBEDDING)
        refused(again, 409, "", "a taken name")
    refused(lambda: letta.folders.retrieve(made.id), 404, "", "one that is gone")


@check("files are uploaded, listed, read by agents and deleted")
def files() -> None:
    with folder("docs") as docs, agent() as ada:
        first = upload(docs.id, "a.txt", "hello world\nsecond\n")
        equal(first.file_name, f"{docs.name}/a.txt", "the name in the first answer")
        upload(docs.id, "a.txt", "other\n")
        listed = [each.file_name for each in letta.folders.files.list(docs.id)]
        equal(listed, ["a_(1).txt", "a.txt"], "the files, the newest first")
        error = lambda: upload(docs.id, "a.txt", "other", duplicate_handling="error")
        refused(error, 400, "already exists in folder", "a taken name")
        image = lambda: upload(docs.id, "a.png", "no image")
        refused(image, 415, "Unsupported file type", "what is no text")
        letta.agents.folders.attach(docs.id, agent_id=ada.id)
        equal([each.id for each in letta.agents.folders.list(ada.id)], [docs.id], "its folders")
        equal(list(letta.folders.agents.list(docs.id)), [ada.id], "its agents")
        seen = list(letta.agents.files.list(ada.id, limit=1))
        equal(sorted(each.file_name for each in seen), [f"{docs.name}/a.txt", f"{docs.name}/a_(1).txt"], "its files, page by page")
        equal([each.is_open for each in seen], [True, True], "which are open")
        found = say(ada.id, call("grep_files", pattern="HELLO")).messages
        returned = only(found, "tool_return_message").tool_return
        holds(returned.startswith("Found 1 total matches across 1 files"), f"a match: {returned}")
        letta.agents.files.close(first.id, agent_id=ada.id)
        opened = letta.agents.files.open(first.id, agent_id=ada.id)
        equal(opened, [], "what was closed for it")
        equal(len(letta.agents.files.close_all(ada.id)), 2, "all that were open")
        letta.agents.folders.detach(docs.id, agent_id=ada.id)
        equal([each.name for each in letta.agents.tools.list(ada.id)], [], "the tools went too")
        letta.folders.files.delete(first.id, folder_id=docs.id)
        equal(len(list(letta.folders.files.list(docs.id))), 1, "after a deletion")
