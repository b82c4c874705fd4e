from dataclasses import asdict, dataclass, field, replace


@dataclass(order=True, frozen=True)
class Item:
    name: str
    price: float = field(compare=False)
    quantity: int = field(default=0, compare=False)
    tags: tuple = field(default_factory=tuple, compare=False)

    @property
    def worth(self) -> float:
        return self.price * self.quantity


def inventory(records: List[dict], discount: float = 0.0) -> dict:
    """Value a stock.

    Args:
        records (List[dict]): Items with name, price and quantity.
        discount (float): Share that is taken off each price.
    """
    items = sorted(Item(**record) for record in records)
    cheaper = [replace(item, price=round(item.price * (1 - discount), 2)) for item in items]
    return {
        "items": [asdict(item) for item in cheaper],
        "worth": round(sum(item.worth for item in cheaper), 2),
        "first": repr(cheaper[0]),
        "equal": cheaper[0] == items[0],
    }
