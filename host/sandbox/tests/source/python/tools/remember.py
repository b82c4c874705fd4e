def remember(agent_state: "AgentState", fact: str, label: str = "human") -> Optional[str]:
    """Add a fact to a memory block.

    Args:
        fact (str): The fact.
        label (str): The block.
    """
    before = str(agent_state.memory.get_block(label).value)
    if fact in before:
        return "known already"
    agent_state.memory.update_block_value(label=label, value=(before + "\n" + fact).strip())
    return None
