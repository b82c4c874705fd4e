from itertools import accumulate, chain, groupby, pairwise, zip_longest


def run_length(text: str) -> dict:
    """Compress a text by counting what repeats.

    Args:
        text (str): The text.
    """
    runs = [(letter, sum(1 for _ in group)) for letter, group in groupby(text)]
    packed = "".join(f"{count if count > 1 else ''}{letter}" for letter, count in runs)
    starts = list(accumulate((count for _, count in runs), initial=0))[:-1]
    return {
        "packed": packed,
        "starts": starts,
        "unpacked": "".join(chain.from_iterable(letter * count for letter, count in runs)) == text,
        "pairs": ["".join(pair) for pair in pairwise(text[:4])],
        "odd": ["".join(part) for part in zip_longest(text[::2], text[1::2], fillvalue="_")][:3],
    }
