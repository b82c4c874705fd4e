# ends: exited
import sys


def t():
    sys.exit(3)
