"""Plain Python behind the exports of text-tools.wit; it knows nothing of Bulkhead."""

import datetime
import re
import statistics
import unicodedata
from typing import Optional

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import dates as date_types
from wit_world.exports import numbers as number_types


class Text(exports.Text):
    def slugify(self, text: str, max_length: Optional[int]) -> str:
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        slug = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
        return slug if max_length is None else slug[:max_length].rstrip("-")


class Numbers(exports.Numbers):
    def summarise(self, values: list[float]) -> number_types.Summary:
        if not values:
            raise Err("an empty list has no summary")
        return number_types.Summary(
            count=len(values),
            mean=statistics.fmean(values),
            median=statistics.median(values),
            deviation=statistics.pstdev(values),
            smallest=min(values),
            largest=max(values),
        )


class Dates(exports.Dates):
    def parse_date(self, text: str) -> date_types.Date:
        try:
            day = datetime.date.fromisoformat(text)
        except ValueError as error:
            raise Err(date_types.Mistake(text=text, reason=str(error)))
        return date_types.Date(
            year=day.year,
            month=day.month,
            day=day.day,
            weekday=date_types.Weekday(day.weekday()),
        )
