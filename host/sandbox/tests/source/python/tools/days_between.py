from datetime import date


def days_between(start: str, end: str) -> int:
    """Count the days between two dates.

    Args:
        start (str): First date, as YYYY-MM-DD.
        end (str): Second date, as YYYY-MM-DD.

    Returns:
        int: The number of days, negative if the second date is earlier.
    """
    return (date.fromisoformat(end) - date.fromisoformat(start)).days
