from datetime import datetime, timedelta


def parse_log_times(lines: List[str], slow_ms: int = 500) -> dict:
    """Find slow requests in the lines of an access log.

    Args:
        lines (List[str]): Lines such as `[02/Jan/2024:10:11:12 +0200] GET / 120ms`.
        slow_ms (int): What counts as slow, in milliseconds.

    Returns:
        dict: The first and last time, the span in seconds, and the slow lines.
    """
    times, slow = [], []
    for line in lines:
        stamp, _, rest = line[1:].partition("] ")
        times.append(datetime.strptime(stamp, "%d/%b/%Y:%H:%M:%S %z"))
        if int(rest.rsplit(" ", 1)[1].removesuffix("ms")) >= slow_ms:
            slow.append(rest)
    span = max(times) - min(times)
    return {
        "first": min(times).isoformat(),
        "last": max(times).strftime("%A %d %B %Y, %I:%M %p"),
        "span_s": span / timedelta(seconds=1),
        "slow": slow,
    }
