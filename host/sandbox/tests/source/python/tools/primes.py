from itertools import count, islice, takewhile


def _primes():
    found = []
    for number in count(2):
        if all(number % prime for prime in takewhile(lambda prime: prime * prime <= number, found)):
            found.append(number)
            yield number


def primes(first: int, above: int = 0) -> list:
    """List prime numbers.

    Args:
        first (int): How many.
        above (int): Only those above this number.
    """
    return list(islice((prime for prime in _primes() if prime > above), first))
