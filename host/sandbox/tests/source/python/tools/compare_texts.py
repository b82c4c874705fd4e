import difflib


def compare_texts(old: str, new: str) -> dict:
    """Show what changed between two texts.

    Args:
        old (str): The text before.
        new (str): The text after.
    """
    a, b = old.splitlines(), new.splitlines()
    diff = difflib.unified_diff(a, b, "old", "new", lineterm="", n=1)
    return {
        "diff": "\n".join(diff),
        "ratio": round(difflib.SequenceMatcher(None, old, new).ratio(), 4),
    }
