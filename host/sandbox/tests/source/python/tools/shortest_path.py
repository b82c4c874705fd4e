import heapq


def shortest_path(roads: List[list], start: str, end: str) -> dict:
    """Find the shortest way.

    Args:
        roads (List[list]): Each with two places and a length.
        start (str): Where to start.
        end (str): Where to go.
    """
    graph = {}
    for a, b, length in roads:
        graph.setdefault(a, []).append((b, length))
        graph.setdefault(b, []).append((a, length))
    heap, seen = [(0, start, [start])], set()
    while heap:
        length, place, way = heapq.heappop(heap)
        if place == end:
            return {"length": length, "way": " → ".join(way)}
        if place in seen:
            continue
        seen.add(place)
        for other, more in graph.get(place, []):
            heapq.heappush(heap, (length + more, other, [*way, other]))
    raise LookupError(f"there is no way from {start} to {end}")
