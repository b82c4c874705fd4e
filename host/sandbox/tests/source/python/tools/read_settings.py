import os


def read_settings(prefix: str) -> dict:
    """Read the settings of a service from the environment.

    Args:
        prefix (str): With what their names begin.
    """
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(prefix)}
    return {
        "found": found,
        "debug": os.getenv(f"{prefix}DEBUG", "false").lower() in ("1", "true"),
        "missing": os.environ.get("NOT_SET_ANYWHERE"),
        "expanded": os.path.expandvars(f"${prefix}HOST/x"),
    }
