# ends: tool_error RecursionError, or trap
def t():
    l = []
    for _ in range(20_000):
        l = [l]
    return l
