"""Why a source has no description. The wording is what clients of the API match."""

from wit_world.exports.source_runtime import Fault

from ..results import clean


class SourceFault(Exception):
    """Source that can't be used, or a schema that can't be derived from it."""

    def __init__(self, message, line=None, parameter=None):
        super().__init__(message)
        self.message = message
        self.line = line
        self.parameter = parameter

    def as_wit(self):
        """The record `fault`."""
        return Fault(clean(self.message), self.line, self.parameter)


def type_error(text, node, parameter):
    """A fault of the kind that clients know as a type error."""
    return SourceFault(f"Type error in schema generation: {text}", node.lineno, parameter)


def value_error(text, node, parameter):
    """A fault of the kind that clients know as a value error."""
    return SourceFault(f"Value error in schema generation: {text}", node.lineno, parameter)
