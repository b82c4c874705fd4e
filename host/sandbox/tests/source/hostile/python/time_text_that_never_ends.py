# ends: out_of_fuel
class D:
    def __str__(self):
        while True:
            pass


def t():
    return D()
