from bisect import bisect


def grade(scores: dict, limits: list = None) -> dict:
    """Give grades for scores.

    Args:
        scores (dict): Name to score.
        limits (list): Where the next better grade begins.
    """
    limits = [float(limit) for limit in limits or (60, 70, 80, 90)]
    return {name: "FDCBA"[bisect(limits, score)] for name, score in scores.items()}
