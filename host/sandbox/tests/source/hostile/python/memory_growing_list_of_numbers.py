# ends: out_of_fuel
def t():
    l = []
    while True:
        l.append(len(l))
