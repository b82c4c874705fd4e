# ends: out_of_fuel
class D:
    def __del__(self):
        while True:
            pass


def t():
    D()
    return 1
