import sqlite3


def query_sales(rows: List[list], least: float) -> dict:
    """Analyse sales with SQL.

    Args:
        rows (List[list]): Region, product and amount of each sale.
        least (float): Only regions with at least this sum.
    """
    with sqlite3.connect(":memory:") as db:
        db.row_factory = sqlite3.Row
        db.execute("CREATE TABLE sales (region TEXT, product TEXT, amount REAL)")
        db.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
        db.create_function("shout", 1, str.upper)
        found = db.execute(
            "SELECT shout(region) AS region, count(*) AS n, sum(amount) AS total FROM sales "
            "GROUP BY region HAVING total >= ? ORDER BY total DESC", (least,)
        ).fetchall()
    return {"regions": [dict(row) for row in found]}
