# ends: tool_error OverflowError
def t():
    return [0] * (1 << 40)
