# ends: out_of_fuel
class M(type):
    def __getattr__(cls, name):
        while True:
            pass


class D(metaclass=M):
    pass


def t():
    return D()
