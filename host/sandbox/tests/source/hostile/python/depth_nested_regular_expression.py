# ends: tool_error RecursionError, or trap
import re


def t():
    return re.compile('(' * 1_000 + ')' * 1_000)
