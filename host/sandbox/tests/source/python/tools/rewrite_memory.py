def rewrite_memory(agent_state, agent_id: str, old: str, new: str) -> list:
    """Replace a word in every memory block.

    Args:
        agent_id (str): The agent.
        old (str): The word.
        new (str): What stands there afterwards.
    """
    changed = []
    for label in agent_state.memory.list_block_labels():
        block = agent_state.memory.get_block(label)
        if old in block.value:
            block.value = block.value.replace(old, new)
            changed.append(label)
    return [agent_id, agent_state.id == agent_id, agent_state.name, changed]
