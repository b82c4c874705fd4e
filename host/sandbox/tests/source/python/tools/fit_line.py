import statistics


def fit_line(points: List[List[float]], at: float) -> str:
    """Fit a line to points and say what it predicts.

    Args:
        points (List[List[float]]): Pairs of x and y.
        at (float): The x to predict y for.
    """
    xs, ys = zip(*points)
    slope, intercept = statistics.linear_regression(xs, ys)
    fit = statistics.correlation(xs, ys) ** 2
    return f"y = {slope:.4f}x {intercept:+.4f} (r² = {fit:.3f}); y({at:g}) = {slope * at + intercept:.2f}"
