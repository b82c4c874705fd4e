# ends: tool_error MemoryError
def t():
    l = []
    while True:
        l.append(bytes(1 << 20))
