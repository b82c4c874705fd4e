from typing import NamedTuple


class Column(NamedTuple):
    name: str
    width: int
    align: str = "<"


def render_table(rows: List[dict]) -> str:
    """Draw records as a Markdown table.

    Args:
        rows (List[dict]): The records.
    """
    names = list(rows[0])
    columns = [
        Column(name, max(len(name), *(len(str(row[name])) for row in rows)),
               ">" if all(isinstance(row[name], (int, float)) for row in rows) else "<")
        for name in names
    ]
    lines = [" | ".join(f"{column.name:{column.width}}" for column in columns)]
    lines.append("-|-".join("-" * column.width for column in columns))
    for row in rows:
        lines.append(" | ".join(f"{str(row[column.name]):{column.align}{column.width}}" for column in columns))
    return "\n".join(f"| {line} |" for line in lines)
