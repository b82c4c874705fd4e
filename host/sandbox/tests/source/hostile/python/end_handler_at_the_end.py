# ends: ok
import atexit


def spin():
    while True:
        pass
atexit.register(spin)


def t():
    return 1
