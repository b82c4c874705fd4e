import datetime as dt


def business_days(start: str, count: int, holidays: Optional[List[str]] = None) -> List[str]:
    """List the next working days after a date.

    Args:
        start (str): The date to start after, as YYYY-MM-DD.
        count (int): How many days to list.
        holidays (List[str]): Dates that are no working days.
    """
    free = {dt.date.fromisoformat(day) for day in holidays or []}
    day, found = dt.date.fromisoformat(start), []
    while len(found) < count:
        day += dt.timedelta(days=1)
        if day.weekday() < 5 and day not in free:
            found.append(f"{day:%a %Y-%m-%d}")
    return found
