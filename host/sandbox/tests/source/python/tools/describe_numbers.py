import math
import statistics as st


def describe_numbers(numbers: List[float]) -> dict:
    """Describe a sample.

    Args:
        numbers (List[float]): The sample, of at least two numbers.
    """
    return {
        "mean": st.fmean(numbers),
        "median": st.median(numbers),
        "mode": st.multimode(numbers),
        "stdev": round(st.stdev(numbers), 9),
        "quartiles": st.quantiles(numbers, n=4),
        "geometric": round(st.geometric_mean(numbers), 9),
        "sum": math.fsum(numbers),
        "range": [min(numbers), max(numbers)],
    }
