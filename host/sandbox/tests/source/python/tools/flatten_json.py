import json


def flatten_json(document: str, separator: str = ".") -> dict:
    """Flatten nested JSON to one level.

    Args:
        document (str): JSON text.
        separator (str): What stands between the parts of a path.
    """
    flat = {}

    def walk(value, path):
        if isinstance(value, dict) and value:
            for key, part in value.items():
                walk(part, [*path, key])
        elif isinstance(value, list) and value:
            for index, part in enumerate(value):
                walk(part, [*path, str(index)])
        else:
            flat[separator.join(path)] = value

    walk(json.loads(document), [])
    return flat
