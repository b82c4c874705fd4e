"""What the stand-in for pydantic must do as pydantic does.

Each case is a function that gives JSON. `python3 pydantic_cases.py`, run where the real pydantic is
installed, writes what that one gives to `pydantic_expected.json`; the tests compare.
"""

import datetime
import decimal
import enum
import json
import pathlib
import typing
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Dict, Generic, List, Literal, Optional, Set, Tuple, TypeVar, Union

import pydantic
from pydantic import (
    AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer,
    PrivateAttr, RootModel, SecretStr, StringConstraints, TypeAdapter, ValidationError,
    computed_field, conint, conlist, constr, create_model, field_serializer, field_validator,
    model_serializer, model_validator,
)

EXPECTED = pathlib.Path(__file__).with_name("pydantic_expected.json")


class Color(str, enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    """Where someone lives."""

    street: str = Field(..., description="Street")
    zip: Optional[str] = None


class User(BaseModel):
    name: str
    age: int = Field(default=3, ge=0, le=150)
    tags: List[str] = []
    address: Optional[Address] = None
    color: Color = Color.RED
    scores: Dict[str, float] = Field(default_factory=dict)


class Node(BaseModel):
    value: int
    children: List["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Owner(BaseModel):
    pet: Union[Cat, Dog] = Field(discriminator="kind")


class Everything(BaseModel):
    when: datetime.datetime
    day: datetime.date
    clock: datetime.time
    span: datetime.timedelta
    id: uuid.UUID
    price: decimal.Decimal
    pair: Tuple[int, str]
    many: Tuple[int, ...]
    unique: Set[int]
    raw: bytes
    anything: Any
    level: Level


class Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    first: str = Field(min_length=2, max_length=5, pattern="^[a-z]+$")
    second: int = 0

    @field_validator("second", mode="before")
    @classmethod
    def _doubled(cls, value):
        return value * 2 if isinstance(value, int) else value

    @field_validator("first")
    @classmethod
    def _no_bad(cls, value, info):
        if value == "bad":
            raise ValueError("bad is not allowed")
        assert value != "worse", "nor is worse"
        return value.upper()

    @model_validator(mode="after")
    def _both(self):
        if self.second == 14:
            raise ValueError("second must not be 14")
        return self


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_name: str = Field(alias="userName")
    other: int = Field(default=1, validation_alias=AliasChoices("o", "oth"),
                       serialization_alias="OTHER")


class Dumped(BaseModel):
    width: int
    height: int = 2
    secret: SecretStr = SecretStr("x")
    hidden: int = Field(default=5, exclude=True)
    _note: str = PrivateAttr(default="n")

    @computed_field
    @property
    def area(self) -> int:
        return self.width * self.height

    @field_serializer("height")
    def _as_text(self, value):
        return f"{value}cm"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)

    x: int


class Assigned(BaseModel):
    model_config = ConfigDict(validate_assignment=True, extra="allow")

    x: int


class Before(BaseModel):
    x: int

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data):
        return {"x": data} if isinstance(data, (int, str)) else data


class Own(BaseModel):
    x: int

    @model_serializer
    def _dump(self):
        return {"is": self.x}


class Ints(RootModel[List[int]]):
    pass


class Annotations(BaseModel):
    even: Annotated[int, AfterValidator(lambda value: value + value % 2)]
    text: Annotated[str, StringConstraints(max_length=4), BeforeValidator(str)]
    shown: Annotated[float, PlainSerializer(lambda value: round(value, 1))] = 1.25
    small: conint(gt=0, lt=10) = 1
    word: constr(min_length=1) = "a"
    pair: conlist(int, min_length=2, max_length=2) = [1, 2]


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    item: T


class Child(User):
    name: str = "child"
    extra: Union[int, str, None] = None


@dataclass
class Point:
    x: int
    y: int = 0


class Shape(BaseModel):
    points: List[Point]
    choice: Union[int, str]
    either: Union[Address, Node, None] = None
    multiple: float = Field(default=0.5, multiple_of=0.5)
    number: Literal[1, 2, "three"] = 1


def _outcome(make):
    try:
        return make()
    except ValidationError as error:
        errors = error.errors(include_url=False)
        for line in errors:
            line["loc"] = list(line["loc"])
            line["ctx"] = {key: str(value) for key, value in line.get("ctx", {}).items()}
            line["input"] = repr(line["input"])
        return {"title": error.title, "errors": errors}
    except (TypeError, ValueError, AttributeError) as error:
        return {"raised": type(error).__name__}


def _dumps(model):
    return {"repr": repr(model), "python": repr(model.model_dump()),
            "json": model.model_dump_json(), "set": sorted(model.model_fields_set)}


_EVERYTHING = {
    "when": "2024-01-02T03:04:05Z", "day": "2024-01-02", "clock": "03:04:05", "span": "PT1H30M",
    "id": "12345678-1234-5678-1234-567812345678", "price": "1.50", "pair": ["1", "a"],
    "many": [1, "2"], "unique": [1, 1, 2], "raw": "abc", "anything": {"a": [1]}, "level": 2,
}

VALIDATIONS = [
    (User, {"name": "a"}), (User, {"name": "a", "age": "7", "tags": ("x",), "color": "blue"}),
    (User, {"age": 200}), (User, {"name": 5, "age": "x", "tags": "no", "color": "green"}),
    (User, {"name": "a", "age": 1.5}), (User, {"name": "a", "age": True}),
    (User, {"name": "a", "age": None}), (User, {"name": "a", "age": "1.0"}),
    (User, {"name": "a", "address": {"street": "s", "zip": 1}}), (User, {"name": "a", "address": {}}),
    (User, {"name": "a", "address": "s"}), (User, {"name": "a", "scores": {"x": "1.5", "y": "z"}}),
    (User, {"name": "a", "unknown": 1}), (User, []), (User, None), (User, "text"),
    (User, {"name": "a", "tags": [1, "b", None]}), (User, {"name": b"bytes"}),
    (Node, {"value": 1, "children": [{"value": "2", "children": [{"value": 3}]}]}),
    (Node, {"value": 1, "children": [{"value": 2, "children": [{}]}]}),
    (Owner, {"pet": {"kind": "cat", "lives": "9"}}), (Owner, {"pet": {"kind": "dog"}}),
    (Owner, {"pet": {"kind": "cow"}}), (Owner, {"pet": {}}), (Owner, {"pet": 5}),
    (Everything, _EVERYTHING), (Everything, {**_EVERYTHING, "when": 1700000000, "day": "x"}),
    (Everything, {**_EVERYTHING, "pair": [1], "many": 5, "unique": {}}),
    (Everything, {**_EVERYTHING, "pair": [1, "a", 2], "level": 3, "id": 5}),
    (Everything, {**_EVERYTHING, "price": "x", "level": "1"}),
    (Everything, {**_EVERYTHING, "when": "2024-01-02", "price": 1.1, "span": 90}),
    (Checked, {"first": " abc "}), (Checked, {"first": "a"}), (Checked, {"first": "abcdef"}),
    (Checked, {"first": "ABC"}), (Checked, {"first": "bad"}), (Checked, {"first": "worse"}),
    (Checked, {"first": "abc", "second": 7}), (Checked, {"first": "abc", "x": 1, "y": 2}),
    (Aliased, {"userName": "a"}), (Aliased, {"user_name": "a", "o": 2}), (Aliased, {}),
    (Aliased, {"userName": "a", "oth": "x"}), (Dumped, {"width": 3}), (Frozen, {"x": 1}),
    (Assigned, {"x": 1, "z": [2]}), (Before, 5), (Before, "x"), (Own, {"x": 2}), (Ints, [1, "2"]),
    (Ints, ["x"]), (Annotations, {"even": 3, "text": 12}), (Annotations, {"even": 3, "text": 12345}),
    (Annotations, {"even": 3, "text": "", "small": 10, "word": "", "pair": [1]}),
    (Annotations, {"even": "x", "text": "", "pair": [1, 2, 3], "small": 0}),
    (Box[int], {"item": "5"}), (Box[int], {"item": "x"}), (Box[List[str]], {"item": ["a"]}),
    (Child, {"extra": "5"}), (Child, {"extra": 5}), (Child, {"extra": []}),
    (Shape, {"points": [{"x": "1"}, Point(2, 3)], "choice": "5"}),
    (Shape, {"points": [{"y": 1}], "choice": 1.5}), (Shape, {"points": [], "choice": None}),
    (Shape, {"points": [], "choice": 1, "either": {"value": 1}, "multiple": 0.3}),
    (Shape, {"points": [], "choice": 1, "either": {"street": "s"}, "number": "three"}),
    (Shape, {"points": [], "choice": 1, "number": "1"}),
]

ADAPTED = [
    (int, "5"), (int, "x"), (int, 1.0), (bool, "yes"), (bool, "maybe"), (bool, 2), (float, "1e3"),
    (float, "x"), (str, 5), (List[int], ["1", 2]), (List[int], {"a": 1}), (Dict[str, int], {"a": "1"}),
    (Dict[int, int], {"x": 1}), (Optional[int], None), (Optional[int], "x"), (Literal["a", "b"], "c"),
    (Literal["a"], "b"), (Union[int, str], "5"), (Union[int, float], "1.5"), (Tuple[int, ...], [1]),
    (Set[str], ["a", "a"]), (datetime.date, "2024-02-30"), (Color, "red"), (Any, object),
    (typing.Sequence[int], ("1",)), (bytes, 5), (None, 1), (decimal.Decimal, "1.10"),
    (List[User], [{"name": "a"}, {}]), (Union[List[int], Dict[str, int]], "x"),
]


def _dump_options():
    user = User(name="a", address=Address(street="s"), tags=["x", "y"], scores={"m": 1})
    dumped = Dumped(width=4)
    return [
        repr(user.model_dump(exclude_none=True)), repr(user.model_dump(exclude_unset=True)),
        repr(user.model_dump(exclude_defaults=True)), repr(user.model_dump(mode="json")),
        repr(user.model_dump(include={"name", "tags"})), repr(user.model_dump(exclude={"tags"})),
        repr(user.model_dump(exclude={"address": {"zip"}})),
        repr(user.model_dump(include={"address": {"street"}, "tags": {0}})),
        repr(Aliased(userName="x").model_dump(by_alias=True)), dumped.model_dump_json(),
        repr(dumped.model_dump()), user.model_dump_json(indent=2), dumped._note,
        repr(user.model_copy(update={"name": "b"})), user == user.model_copy(deep=True),
        user == User(name="zz"), str(user), repr(dict(user)), hash(Frozen(x=1)) == hash(Frozen(x=1)),
        repr(User.model_construct(name="n")), repr(create_model("Made", a=(int, 1), b=(str, ...))(b="x")),
        User.model_validate_json('{"name": "j", "age": 4}').age,
        TypeAdapter(List[User]).dump_json([user]).decode(),
    ]


def _set(model, name, value):
    setattr(model, name, value)
    return _dumps(model)


def results():
    """Everything that is compared, as JSON."""
    found = {"version": "2"}
    for index, (model, data) in enumerate(VALIDATIONS):
        found[f"{index} {model.__name__} {data!r}"] = _outcome(
            lambda: _dumps(model.model_validate(data)))
    for index, (kind, value) in enumerate(ADAPTED):
        found[f"adapter {index} {value!r}"] = _outcome(
            lambda: repr(TypeAdapter(kind).validate_python(value)))
    found["dumps"] = _dump_options()
    found["assign"] = [
        _outcome(lambda: _set(Assigned(x=1), "x", "5")), _outcome(lambda: _set(Assigned(x=1), "x", "y")),
        _outcome(lambda: _set(Assigned(x=1), "more", 2)), _outcome(lambda: _set(Frozen(x=1), "x", 2)),
        _outcome(lambda: _set(Cat(kind="cat", lives=1), "zz", 2)),
    ]
    for model in (User, Address, Node, Owner, Everything, Checked, Aliased, Ints, Shape, Annotations):
        found[f"schema {model.__name__}"] = model.model_json_schema()
    try:
        User(name=5, address={})
    except ValidationError as error:
        found["text"] = [line for line in str(error).splitlines() if "further information" not in line]
    # pydantic has an object of its own for UTC.
    return json.loads(json.dumps(found).replace("TzInfo(0)", "datetime.timezone.utc"))


if __name__ == "__main__":
    EXPECTED.write_text(json.dumps(results(), indent=1, sort_keys=True) + "\n")
    print(f"written from pydantic {pydantic.VERSION}")
