# ends: tool_error EOFError
def t():
    return input('name? ')
