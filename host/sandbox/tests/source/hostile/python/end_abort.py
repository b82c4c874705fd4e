# ends: trap
import os


def t():
    os.abort()
