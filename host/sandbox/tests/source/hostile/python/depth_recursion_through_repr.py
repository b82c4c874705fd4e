# ends: tool_error RecursionError, or trap
import sys
sys.setrecursionlimit(10 ** 9)


class A:
    def __repr__(self):
        return repr([self])


def t():
    return repr(A())
