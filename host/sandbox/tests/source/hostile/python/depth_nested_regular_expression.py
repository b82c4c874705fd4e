# ends: tool_error RecursionError, or trap
import re


def t():
    return re.compile('(' * 20_000 + ')' * 20_000)
