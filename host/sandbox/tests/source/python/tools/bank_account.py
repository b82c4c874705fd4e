import abc
from contextlib import contextmanager
from functools import total_ordering


class Overdrawn(Exception):
    """There is not enough money."""

    def __init__(self, missing):
        super().__init__(f"{missing:.2f} are missing")
        self.missing = missing


class Account(abc.ABC):
    def __init__(self, balance: float = 0):
        self._balance = balance
        self.history = []

    @property
    @abc.abstractmethod
    def limit(self) -> float:
        """How deep in debt it may be."""

    def __iadd__(self, amount):
        if self._balance + amount < -self.limit:
            raise Overdrawn(-self.limit - self._balance - amount)
        self._balance += amount
        self.history.append(amount)
        return self

    @contextmanager
    def transaction(self):
        before, seen = self._balance, len(self.history)
        try:
            yield self
        except Overdrawn:
            self._balance = before
            del self.history[seen:]
            raise


@total_ordering
class Giro(Account):
    limit = 100.0

    def __eq__(self, other):
        return self._balance == other._balance

    def __lt__(self, other):
        return self._balance < other._balance


def bank_account(bookings: List[float]) -> dict:
    """Book amounts, all or none of them.

    Args:
        bookings (List[float]): The amounts.
    """
    account = Giro(50)
    try:
        with account.transaction():
            for amount in bookings:
                account += amount
    except Overdrawn as error:
        return {"overdrawn": str(error), "history": account.history, "poor": account <= Giro(50)}
    return {"balance": account._balance, "history": account.history, "rich": account > Giro(50)}
