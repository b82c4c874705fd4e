from datetime import datetime
from zoneinfo import ZoneInfo


def meeting_times(when: str, zone: str, others: list) -> dict:
    """Show a meeting's time in the zones of all who take part.

    Args:
        when (str): Local time of the meeting, ISO 8601 without an offset.
        zone (str): Time zone of that time, for example Europe/Berlin.
        others (list): Time zones of the others.
    """
    start = datetime.fromisoformat(when).replace(tzinfo=ZoneInfo(zone))
    times = {}
    for name in [zone, *others]:
        local = start.astimezone(ZoneInfo(name))
        times[name] = f"{local:%Y-%m-%d %H:%M %Z} (UTC{local:%z})"
    return times
