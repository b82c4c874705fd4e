# ends: out_of_fuel
def numbers():
    n = 0
    while True:
        n = (n + 1) % 7
        yield n


def t():
    return max(numbers())
