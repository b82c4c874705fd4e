# ends: out_of_fuel
import itertools


def t():
    return sum(itertools.count())
