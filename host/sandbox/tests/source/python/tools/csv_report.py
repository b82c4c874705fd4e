import csv
import io
import statistics


def csv_report(data: str, group: str, value: str) -> list:
    """Summarise a CSV table by one of its columns.

    Args:
        data (str): The table, with a header line.
        group (str): Column to group by.
        value (str): Column with numbers.
    """
    groups = {}
    for row in csv.DictReader(io.StringIO(data)):
        groups.setdefault(row[group], []).append(float(row[value]))
    return [
        {"group": name, "count": len(found), "sum": sum(found), "mean": round(statistics.mean(found), 3)}
        for name, found in sorted(groups.items())
    ]
