import cmath
import math


def big_numbers(n: int) -> list:
    """Compute with large, complex and special numbers.

    Args:
        n (int): A number.
    """
    return [
        math.factorial(n),
        2 ** (n * 4),
        math.comb(n * 2, n),
        math.isqrt(10 ** n),
        round(cmath.phase(complex(-1, n)), 9),
        float(f"1e{n}"),
        (-7) // 2,
        -7 % 3,
        0.1 + 0.2,
        round(2.5),
        f"{1234567.891:,.2f}",
        f"{255:#x} {5:08b} {0.000123:.2e} {n:>5}|{n:^5}|",
        1e16,
        1e-7,
    ]
