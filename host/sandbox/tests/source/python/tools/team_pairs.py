from itertools import combinations, permutations, product


def team_pairs(people: List[str], tasks: List[str]) -> dict:
    """List who can work with whom, and on what.

    Args:
        people (List[str]): The people.
        tasks (List[str]): The tasks.
    """
    pairs = list(combinations(sorted(people), 2))
    return {
        "pairs": ["+".join(pair) for pair in pairs],
        "plans": sum(1 for _ in product(pairs, tasks)),
        "orders": len(set(permutations(people))),
    }
