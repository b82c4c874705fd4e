from collections import defaultdict, deque
from graphlib import CycleError, TopologicalSorter


def task_order(needs: dict) -> dict:
    """Bring tasks into an order in which they can be done.

    Args:
        needs (dict): Task to the list of tasks that must be done before it.
    """
    try:
        order = list(TopologicalSorter({task: sorted(before) for task, before in needs.items()}).static_order())
    except CycleError as error:
        return {"circle": sorted(set(error.args[1]))}
    unlocks = defaultdict(list)
    for task, before in needs.items():
        for other in before:
            unlocks[other].append(task)
    depth, queue = {}, deque((task, 0) for task in order if not needs.get(task))
    while queue:
        task, level = queue.popleft()
        depth[task] = max(level, depth.get(task, 0))
        queue.extend((other, level + 1) for other in unlocks[task])
    return {"order": order, "depth": dict(sorted(depth.items())), "missing": [task for task in order if task not in needs]}
