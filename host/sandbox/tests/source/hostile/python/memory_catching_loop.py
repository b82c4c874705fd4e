# ends: out_of_fuel
def t():
    l = []
    while True:
        try:
            l.append(bytes(1 << 20))
        except MemoryError:
            pass
