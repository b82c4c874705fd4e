# ends: ok
import itertools


def t():
    return itertools.count()
