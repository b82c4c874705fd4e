"""`RootModel`: a model that is one value instead of an object."""

import typing

from .errors import PydanticUndefined
from .main import BaseModel

Root = typing.TypeVar("Root")


class RootModel(BaseModel, typing.Generic[Root]):
    """A model around one value, `root`."""

    __pydantic_root__ = True

    root: Root

    def __init__(self, /, root=PydanticUndefined, **data):
        if root is not PydanticUndefined:
            super().__init__(root=root)
        elif data:
            super().__init__(root=data)
        else:
            super().__init__()

    @classmethod
    def __pydantic_validate__(cls, value, strict):
        """The validator that types use which contain the model."""
        if isinstance(value, cls):
            return value
        from .errors import Invalid

        try:
            return super().__pydantic_validate__({"root": value}, strict)
        except Invalid as error:
            for line in error.lines:
                line.loc = line.loc[1:] if line.loc[:1] == ("root",) else line.loc
            raise

    def __eq__(self, other):
        return isinstance(other, RootModel) and self.root == other.root

    def __repr_args__(self):
        yield "root", self.root
