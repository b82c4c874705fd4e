# ends: tool_error ValueError
def t():
    e = None
    for n in range(1_000):
        a = ValueError(n)
        a.__context__ = e
        e = a
    raise e
