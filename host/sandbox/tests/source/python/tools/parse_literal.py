import ast
import pprint


def parse_literal(text: str) -> str:
    """Read a Python literal and print it nicely.

    Args:
        text (str): The literal.
    """
    return pprint.pformat(ast.literal_eval(text), width=30, sort_dicts=True)
