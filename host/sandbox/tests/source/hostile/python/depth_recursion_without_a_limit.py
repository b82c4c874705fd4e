# ends: tool_error RecursionError, or trap
import sys
sys.setrecursionlimit(10 ** 9)


def t():
    return t()
