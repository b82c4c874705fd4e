# ends: tool_error ValueError
def t():
    l = []
    for _ in range(5_000):
        l = [l]
    return l
