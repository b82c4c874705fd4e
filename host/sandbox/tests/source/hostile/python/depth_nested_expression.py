# ends: tool_error MemoryError
def t():
    return eval('(' * 20_000 + ')' * 20_000)
