# ends: out_of_fuel
def t():
    while True:
        pass
