# ends: out_of_fuel
class E(Exception):
    def __str__(self):
        while True:
            pass


def t():
    raise E
