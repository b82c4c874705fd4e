# ends: out_of_fuel
def spin():
    while True:
        pass


def t(a: spin() = 1):
    return a
