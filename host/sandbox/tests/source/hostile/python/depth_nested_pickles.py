# ends: tool_error RecursionError, or trap
import pickle


def t():
    l = []
    for _ in range(20_000):
        l = [l]
    return len(pickle.dumps(l))
