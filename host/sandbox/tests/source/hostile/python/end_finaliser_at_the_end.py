# ends: ok
class D:
    def __del__(self):
        while True:
            pass
kept = D()


def t():
    return 1
