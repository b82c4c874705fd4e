import configparser
import json
import tomllib


def read_config(text: str, kind: Literal["ini", "toml", "json"] = "ini") -> dict:
    """Read a configuration file.

    Args:
        text (str): Its text.
        kind (Literal): Its format.
    """
    if kind == "toml":
        return tomllib.loads(text)
    if kind == "json":
        return json.loads(text)
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {section: dict(parser[section]) for section in parser.sections()}
