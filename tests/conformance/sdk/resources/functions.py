"""Functions that agents call: their source is what the server gets."""

from __future__ import annotations


def count_words(text: str) -> int:
    """
    Count words.

    Args:
        text (str): What is counted.
    """
    print("counting")
    return len(text.split())


def note_down(line: str, agent_state) -> str:
    """
    Add a line to what is known of the user.

    Args:
        line (str): What is added.
    """
    block = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value(label="human", value=block.value + "\n" + line)
    return "noted"


def break_down(reason: str) -> str:
    """
    Fail.

    Args:
        reason (str): Why.
    """
    print("about to fail")
    raise ValueError(reason)


def who_am_i() -> dict:
    """
    Tell of the environment.
    """
    import os

    return {"agent": os.environ["LETTA_AGENT_ID"], "city": os.environ.get("CITY")}


def open_door(door: str) -> str:
    """
    Open a door.

    Args:
        door (str): Which one.
    """
    return f"{door} is open"


def repeat_word(word: str, times: int) -> str:
    """
    Say a word again and again.

    Args:
        word (str): The word.
        times (int): How often.
    """
    return word * times
