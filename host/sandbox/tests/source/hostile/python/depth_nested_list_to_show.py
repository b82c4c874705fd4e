# ends: ok
def t():
    l = []
    for _ in range(5_000):
        l = [l]
    return len(repr(l))
