# ends: tool_error RecursionError
def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def t():
    return even(100_000)
