# ends: out_of_fuel
while True:
    pass


def t():
    pass
