def roman(number: int) -> str:
    """Write a number in Roman numerals.

    Args:
        number (int): A number from 1 to 3999.
    """
    if not 0 < number < 4000:
        raise ValueError(f"{number} is not between 1 and 3999")
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    signs = "M CM D CD C XC L XL X IX V IV I".split()
    out = ""
    for value, sign in zip(values, signs):
        times, number = divmod(number, value)
        out += sign * times
    return out
