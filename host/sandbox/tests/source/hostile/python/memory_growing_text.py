# ends: tool_error MemoryError
def t():
    text = 'x'
    while True:
        text = text + text + 'x'
