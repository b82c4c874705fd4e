import calendar


def month_calendar(year: int, month: int) -> str:
    """Draw the calendar of a month, with the weeks starting on Monday.

    Args:
        year (int): The year.
        month (int): The month, 1 to 12.
    """
    return calendar.TextCalendar(calendar.MONDAY).formatmonth(year, month)
