"""`agent_state`: the agent that a tool is called for, as tools know it.

Values of blocks may be changed; what changed is stored when the tool has returned. Everything else
is there to be read.
"""

import json

from .record import Record, record

READ_ONLY = "This block is read-only and cannot be edited."

_LISTS = (
    "tools", "tool_rules", "message_ids", "sources", "tags", "tool_exec_environment_variables",
    "secrets", "identity_ids", "identities",
)
_OPTIONAL = (
    "name", "system", "agent_type", "description", "metadata", "llm_config", "embedding_config",
    "model", "embedding", "model_settings", "response_format", "project_id", "template_id",
    "created_at", "updated_at", "timezone", "message_buffer_autoclear", "enable_sleeptime",
    "multi_agent_group", "managed_group", "hidden", "created_by_id", "last_updated_by_id",
)
_BLOCK_DEFAULTS = {
    "id": None, "description": None, "metadata": {}, "tags": [], "is_template": False,
    "hidden": None,
}
_DEFAULT_LIMIT = 100_000


class Block:
    """One part of the agent's memory: a labelled text."""

    def __init__(self, data=None, **fields):
        data = {**_BLOCK_DEFAULTS, **(data or {}), **fields}
        self.__dict__.update({key: record(value) for key, value in data.items() if key != "value"})
        self.__dict__.setdefault("label", None)
        self.__dict__["limit"] = data.get("limit") or _DEFAULT_LIMIT
        self.__dict__["read_only"] = bool(data.get("read_only"))
        self.__dict__["_value"] = data.get("value") or ""

    @property
    def value(self):
        """The text."""
        return self._value

    @value.setter
    def value(self, text):
        if not isinstance(text, str):
            raise ValueError("Provided value must be a string")
        if text == self._value:
            return
        if self.read_only:
            raise ValueError(READ_ONLY)
        if len(text) > self.limit:
            raise ValueError(
                f"Edit failed: Exceeds {self.limit} character limit (requested {len(text)})"
            )
        self.__dict__["_value"] = text

    def model_dump(self, **_):
        """The block as a dictionary."""
        data = {key: value for key, value in self.__dict__.items() if key != "_value"}
        return json.loads(json.dumps({"value": self._value, **data}))

    dict = model_dump

    def __repr__(self):
        return f"Block(label={self.label!r}, value={self._value!r}, limit={self.limit})"


class Memory:
    """The blocks of an agent."""

    def __init__(self, blocks=(), **fields):
        self.blocks = list(blocks)
        self.__dict__.update(fields)

    def get_blocks(self):
        """All blocks."""
        return self.blocks

    def list_block_labels(self):
        """The labels of all blocks."""
        return [block.label for block in self.blocks]

    def get_block(self, label):
        """The block with this label."""
        for block in self.blocks:
            if block.label == label:
                return block
        raise KeyError(
            f"Block field {label} does not exist "
            f"(available sections = {', '.join(map(str, self.list_block_labels()))})"
        )

    def update_block_value(self, label, value):
        """Sets the text of the block with this label."""
        if label not in self.list_block_labels():
            raise ValueError(f"Block with label {label} does not exist")
        self.get_block(label).value = value

    def set_block(self, block):
        """Takes over the text of a block; one with a new label is known to this call alone."""
        if block.label in self.list_block_labels():
            self.get_block(block.label).value = block.value
        else:
            self.blocks.append(block)

    def compile(self, *_, **__):
        """The blocks as they stand in the agent's prompt."""
        parts = [_compiled(block) for block in self.blocks]
        return "<memory_blocks>\n" + "\n".join(parts) + "\n</memory_blocks>"

    def model_dump(self, **_):
        """The memory as a dictionary."""
        return {"blocks": [block.model_dump() for block in self.blocks]}

    dict = model_dump

    def __repr__(self):
        return f"Memory(blocks={self.blocks!r})"


def _compiled(block):
    facts = [f"- chars_current={len(block.value)}", f"- chars_limit={block.limit}"]
    if block.read_only:
        facts.insert(0, "- read_only=true")
    return "\n".join([
        f"<{block.label}>", "<description>", block.description or "", "</description>",
        "<metadata>", *facts, "</metadata>", "<value>", block.value, "</value>",
        f"</{block.label}>", "",
    ])


class AgentState:
    """The agent. What the host does not tell is None, or an empty list."""

    def __init__(self, data):
        memory = data.get("memory")
        memory = memory if isinstance(memory, dict) else {}
        blocks = [Block(block) for block in memory.get("blocks") or data.get("blocks") or []]
        fields = {**dict.fromkeys(_OPTIONAL), **{name: [] for name in _LISTS}}
        fields.update((key, record(value)) for key, value in data.items() if value is not None)
        rest = {key: record(value) for key, value in memory.items() if key != "blocks"}
        fields["memory"] = Memory(blocks, **{"agent_type": fields["agent_type"], **rest})
        fields["blocks"] = fields["memory"].blocks
        fields["metadata_"] = fields["metadata"]
        self.__dict__.update(fields)
        self._before = {block.label: block.value for block in blocks}

    def changed_blocks(self):
        """Label to text of the stored blocks that changed."""
        now = {block.label: block.value for block in self.memory.blocks}
        return {
            label: now[label]
            for label, before in self._before.items()
            if label in now and now[label] != before
        }

    def get_agent_env_vars_as_dict(self):
        """The agent's secrets: key to value."""
        pairs = self.secrets or self.tool_exec_environment_variables
        return {pair["key"]: pair["value"] for pair in pairs}

    def model_dump(self, **_):
        """The agent as a dictionary."""
        hidden = ("_before", "memory", "blocks", "metadata_")
        data = {key: value for key, value in self.__dict__.items() if key not in hidden}
        data["memory"] = self.memory.model_dump()
        data["blocks"] = data["memory"]["blocks"]
        return json.loads(json.dumps(data, default=str))

    dict = model_dump

    def __repr__(self):
        return f"AgentState(id={self.id!r}, name={self.name!r})"


def agent_state(text):
    """The agent from the host's JSON; None without one."""
    if text is None:
        return None
    data = json.loads(text)
    return AgentState({"id": None, **data})


__all__ = ["AgentState", "Block", "Memory", "Record", "agent_state"]
