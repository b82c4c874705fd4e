from pydantic import BaseModel, Field, field_validator


class Line(BaseModel):
    sku: str = Field(..., description="Article number", min_length=3)
    quantity: int = Field(1, description="How many", ge=1)
    price: float = Field(..., description="Price of one")


class Address(BaseModel):
    street: str = Field(..., description="Street and number")
    city: str = Field(..., description="City")
    country: str = Field("DE", description="Country code")


class Order(BaseModel):
    customer: str = Field(..., description="Who orders")
    lines: List[Line] = Field(..., description="What is ordered")
    ship_to: Optional[Address] = Field(None, description="Where it goes")

    @field_validator("customer")
    @classmethod
    def tidy(cls, value):
        return " ".join(value.split()).title()

    @property
    def total(self) -> float:
        return sum(line.quantity * line.price for line in self.lines)


def create_order(order: Order, express: bool = False) -> dict:
    """Take an order.

    Args:
        order (Order): The order.
        express (bool): Whether it is urgent.
    """
    return {
        "order": order.model_dump(exclude_none=True),
        "total": order.total + (9.9 if express else 0),
        "json": order.model_dump_json(),
        "model": type(order.lines[0]).__name__,
    }
