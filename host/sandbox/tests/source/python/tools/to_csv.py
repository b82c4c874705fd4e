import csv
import io


def to_csv(rows: List[dict], delimiter: str = ",") -> str:
    """Write records as a CSV table, with the columns of all of them.

    Args:
        rows (List[dict]): The records.
        delimiter (str): What stands between the fields.
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, delimiter=delimiter, restval="-", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
