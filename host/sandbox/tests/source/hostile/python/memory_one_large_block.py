# ends: tool_error MemoryError
def t():
    return bytearray(1 << 30)
