import difflib
from functools import lru_cache


@lru_cache(maxsize=None)
def distance(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))


def suggest(word: str, known: List[str]) -> dict:
    """Suggest what a misspelt word may mean.

    Args:
        word (str): The word.
        known (List[str]): Words that exist.
    """
    return {
        "close": difflib.get_close_matches(word, known, n=3, cutoff=0.5),
        "distances": {other: distance(word, other) for other in known},
    }
