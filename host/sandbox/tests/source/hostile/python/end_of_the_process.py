# ends: exited
import os


def t():
    os._exit(3)
