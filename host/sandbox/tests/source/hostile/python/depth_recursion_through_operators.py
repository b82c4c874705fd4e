# ends: tool_error RecursionError, or trap
import sys
sys.setrecursionlimit(10 ** 9)


class A:
    def __add__(self, other):
        return self + other
    __eq__ = __getattr__ = __call__ = __add__


def t():
    return A() + A()
