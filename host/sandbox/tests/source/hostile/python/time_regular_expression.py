# ends: out_of_fuel
import re


def t():
    return re.match('(a+)+$', 'a' * 60 + 'b')
