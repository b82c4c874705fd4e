# ends: tool_error ValueError
def t():
    return 10 ** 5000
