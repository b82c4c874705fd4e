# ends: out_of_fuel
def t():
    return 7 ** 7 ** 9 > 0
