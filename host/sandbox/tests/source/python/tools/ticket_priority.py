from enum import Enum, Flag, IntEnum, auto


class Severity(str, Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Rank(IntEnum):
    LATER = 3
    SOON = 2
    NOW = 1


class Notify(Flag):
    NOBODY = 0
    MAIL = auto()
    PAGER = auto()
    ALL = MAIL | PAGER


def ticket_priority(severity: Severity, customers: int) -> dict:
    """Decide how urgent a ticket is.

    Args:
        severity (Severity): How bad it is.
        customers (int): How many customers are affected.
    """
    score = list(Severity).index(severity) + (customers > 10) + (customers > 100)
    rank = Rank.NOW if score >= 3 else Rank.SOON if score == 2 else Rank.LATER
    notify = Notify.ALL if rank is Rank.NOW else Notify.MAIL if rank < Rank.LATER else Notify.NOBODY
    return {
        "severity": severity.value,
        "rank": rank.name,
        "order": int(rank),
        "mail": bool(notify & Notify.MAIL),
        "pager": Notify.PAGER in notify,
        "known": [member.name for member in Severity],
    }
