# ends: out_of_fuel
def t():
    while True:
        try:
            1 / 0
        except BaseException:
            pass
