import uuid


def stable_ids(names: List[str]) -> dict:
    """Make ids that are the same each time.

    Args:
        names (List[str]): The names to make ids for.
    """
    ids = {name: str(uuid.uuid5(uuid.NAMESPACE_DNS, name)) for name in names}
    ids["v3"] = str(uuid.uuid3(uuid.NAMESPACE_URL, names[0]))
    fresh = uuid.uuid4()
    ids["fresh"] = [fresh.version, len(str(fresh)), fresh != uuid.uuid4()]
    return ids
