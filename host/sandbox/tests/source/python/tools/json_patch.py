import copy
import json


def json_patch(document: dict, patch: dict) -> str:
    """Apply a JSON merge patch and show the result, indented and sorted.

    Args:
        document (dict): The document.
        patch (dict): The patch; null removes a key.
    """
    def merge(target, changes):
        if not isinstance(changes, dict):
            return changes
        target = copy.deepcopy(target) if isinstance(target, dict) else {}
        for key, value in changes.items():
            if value is None:
                target.pop(key, None)
            else:
                target[key] = merge(target.get(key), value)
        return target

    return json.dumps(merge(document, patch), indent=2, sort_keys=True, ensure_ascii=False)
