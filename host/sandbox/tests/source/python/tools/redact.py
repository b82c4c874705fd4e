import re
from functools import partial


def _mask(match: re.Match, keep: int) -> str:
    digits = match.group()
    return "*" * (len(digits) - keep) + digits[len(digits) - keep:]


def redact(text: str, keep: int = 4) -> str:
    """Hide all but the last digits of long numbers.

    Args:
        text (str): The text.
        keep (int): How many digits stay readable.
    """
    return re.sub(r"\b\d{8,}\b", partial(_mask, keep=keep), text)
