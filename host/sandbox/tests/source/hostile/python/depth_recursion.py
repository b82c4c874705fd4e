# ends: tool_error RecursionError
def t():
    return t()
