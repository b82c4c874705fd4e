# ends: tool_error RecursionError, or trap
import json


def t():
    return json.loads('[' * 20_000)
