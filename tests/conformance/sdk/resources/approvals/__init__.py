"""Calls that wait for a person, and calls that the client makes itself."""

# In the order in which their checks run.
from . import asking, answering, failing, cursors, parallel, mistakes, cancelled  # noqa: F401
