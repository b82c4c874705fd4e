"""From an exception to what the host gets: kind, message, and the lines of the source alone."""

import sys
import traceback
import types

from wit_world.exports.source_runtime import Ended_Exited, Ended_Raised
from wit_world.exports.source_runtime import Exception as Raised

from .results import clean

_STATUS_RANGE = range(-(1 << 31), 1 << 31)


def ended(error, file_name):
    """How a call ended that this exception left."""
    if isinstance(error, SystemExit):
        return Ended_Exited(_status(error.code))
    return Ended_Raised(
        Raised(clean(type(error).__name__), clean(_message(error)),
               clean(_traceback(error, file_name)))
    )


def _status(code):
    """The status of a program that ended with `sys.exit(code)`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) if code in _STATUS_RANGE else 1
    print(code, file=sys.stderr)
    return 1


def _message(error):
    try:
        return str(error)
    except BaseException as second:
        return f"<its text can't be made: {type(second).__name__}>"


class _Stack(traceback.StackSummary):
    """Frames of which equal ones are formatted once: a recursion that went too deep has a thousand,
    and formatting each would cost more than the call."""

    def __init__(self, frames):
        super().__init__(frames)
        self._formatted = {}

    def format_frame_summary(self, frame_summary, **options):
        """The lines of one frame."""
        key = (frame_summary.name, frame_summary.lineno, frame_summary.colno,
               frame_summary.end_lineno, frame_summary.end_colno)
        if key not in self._formatted:
            self._formatted[key] = super().format_frame_summary(frame_summary, **options)
        return self._formatted[key]


def _traceback(error, file_name):
    """The traceback without frames of the runtime and of libraries."""
    try:
        for part in _with_causes(error):
            # Before the report is made: it costs much for each frame of a large function.
            part.__traceback__ = _own_frames(part.__traceback__, file_name)
        report = traceback.TracebackException.from_exception(error, lookup_lines=False)
        for part in _with_causes(report):
            part.stack = _Stack(part.stack)
        return "".join(report.format())
    except BaseException as second:
        # Memory may be used up, or the exception may be built to break its report.
        return f"{type(error).__name__} (no traceback: {type(second).__name__})\n"


def _own_frames(link, file_name):
    """The links of a traceback that lie in the source."""
    links = []
    while link is not None:
        if link.tb_frame.f_code.co_filename == file_name:
            links.append(link)
        link = link.tb_next
    own = None
    for link in reversed(links):
        own = types.TracebackType(own, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return own


def _with_causes(first):
    """An exception, or the report of one, and those that it came from or holds."""
    pending, found = [first], {}
    while pending:
        part = pending.pop()
        if part is None or id(part) in found:
            continue
        found[id(part)] = part
        pending += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or [])]
    return list(found.values())
