"""Makes the objects in a component's snapshot immortal, so that calls share their pages.

The list of the objects is in the snapshot; `runtime/bulkhead/census.py` says what it is for and how
it is written. Immortal is an object whose count of uses has one of its highest bits set: see
`Include/refcount.h` of CPython 3.14 for 32-bit systems. Setting the count's highest byte is enough,
so that nothing in the file moves.
"""

import bisect
import hashlib
import struct
import typing

_MARKER = hashlib.sha256(b"bulkhead: objects of the snapshot").digest()
_IMMORTAL_BYTE = 0x50
"""The highest byte of the count with which CPython starts objects that live forever."""
_LEAST_IMMORTAL = 1 << 30
_MOST_PLAUSIBLE = 1 << 19
"""Less than any address in the snapshot: a larger count is none. Real ones stay far below."""
_LEAST_RECOGNIZED = 0.9
"""The share of listed objects that must look like objects; with fewer, the list is misread."""

_HEADER_BYTES = 8
"""Of a component and of a module."""
_MODULE_IN_COMPONENT = 1
_DATA_IN_MODULE = 11
"""Numbers of sections."""
_I32_CONST, _END = 0x41, 0x0B
"""The two instructions that say where a segment belongs."""


class Unexpected(Exception):
    """The component is not as this file knows it; it is left as it was, and works."""


def make_immortal(component):
    """Patches a component, a bytearray, in place; gives how many objects it made immortal."""
    try:
        memory = _Memory(component)
        listed, count, mortal = _list(memory)
        places = [memory.place(address + 3) for address in mortal]
    except (IndexError, struct.error) as error:
        raise Unexpected(f"the component's sections can't be read: {error}") from error
    if None in places:
        raise Unexpected("an object's header is not in the file")
    for place in places:
        component[place] = _IMMORTAL_BYTE
    memory.clear(listed, len(_MARKER) + 4 + 8 * count)
    return len(places)


def _list(memory):
    """The list's address and length, and the addresses in it of objects to be made immortal.

    Free memory can hold older copies of its beginning, from when the list was shorter.
    """
    reason = Unexpected("the list of objects is not there")
    for listed in memory.find(_MARKER):
        try:
            count = memory.word(listed + len(_MARKER))
            return listed, count, _mortal(memory, memory.pairs(listed + len(_MARKER) + 4, count))
        except (Unexpected, struct.error) as error:
            reason = Unexpected(str(error))
    raise reason


def _mortal(memory, pairs):
    """The addresses of objects that are there and not immortal."""
    if not pairs or memory.word(pairs[0][0]) < _LEAST_IMMORTAL:
        raise Unexpected("None is not immortal in the snapshot")
    mortal, immortal = [], 0
    for address, kind in pairs:
        if memory.word(address + 4) != kind:
            continue  # It died after it was listed, and its memory has another use.
        uses = memory.word(address)
        if uses >= _LEAST_IMMORTAL:
            immortal += 1
        elif 1 <= uses <= _MOST_PLAUSIBLE:
            mortal.append(address)
    recognized = immortal + len(mortal)
    if recognized < _LEAST_RECOGNIZED * len(pairs):
        raise Unexpected(f"only {recognized} of {len(pairs)} listed addresses hold their object")
    return mortal


class _Memory:
    """A snapshot's memory, as the data segments in the file hold it."""

    def __init__(self, component):
        self._file = component
        self._segments = sorted(_segments(component))
        self._starts = [segment.start for segment in self._segments]
        last = self._segments[-1]
        self._bytes = bytearray(last.start + last.size)
        for start, place, size in self._segments:
            self._bytes[start:start + size] = component[place:place + size]

    def place(self, address):
        """Where in the file a byte of memory is; None for a zero that the file leaves out."""
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        segment = self._segments[index]
        inside = address - segment.start
        return segment.place + inside if inside < segment.size else None

    def word(self, address):
        """Four bytes as a number."""
        return struct.unpack_from("<I", self._bytes, address)[0]

    def pairs(self, address, count):
        """Pairs of words."""
        words = struct.unpack_from(f"<{2 * count}I", self._bytes, address)
        return list(zip(words[::2], words[1::2]))

    def clear(self, address, size):
        """Makes bytes of memory zero in the file."""
        for segment in self._segments:
            start = max(segment.start, address)
            length = min(segment.start + segment.size, address + size) - start
            if length > 0:
                place = segment.place + start - segment.start
                self._file[place:place + length] = bytes(length)

    def find(self, text):
        """The addresses at which a text stands."""
        address = self._bytes.find(text)
        while address >= 0:
            yield address
            address = self._bytes.find(text, address + 1)


class _Segment(typing.NamedTuple):
    """Memory that the file holds."""

    start: int
    """Its address."""
    place: int
    """Where in the file it begins."""
    size: int


def _segments(component):
    """The data segments of the module with the snapshot, which has the most data of all."""
    found = []
    for kind, start, end in _sections(component, 0, len(component)):
        if kind == _MODULE_IN_COMPONENT:
            for part, data, data_end in _sections(component, start, end):
                if part == _DATA_IN_MODULE:
                    found.append((data_end - data, data))
    segments = _placed(component, max(found)[1]) if found else []
    if not segments:
        raise Unexpected("no module in the component has data")
    return segments


def _sections(data, start, end):
    """The sections of a component or module: number, and where the contents begin and end."""
    place = start + _HEADER_BYTES
    while place < end:
        kind = data[place]
        size, place = _number(data, place + 1)
        yield kind, place, place + size
        place += size


def _placed(data, place):
    """The segments of a data section, all of which belong at a fixed address of the memory."""
    count, place = _number(data, place)
    segments = []
    for _ in range(count):
        kind, instruction = _number(data, place)
        if kind != 0 or data[instruction] != _I32_CONST:
            raise Unexpected("a data segment of the snapshot has no fixed address")
        start, place = _number(data, instruction + 1)
        size, first = _number(data, place + 1)
        if data[place] != _END:
            raise Unexpected("a data segment of the snapshot has no fixed address")
        segments.append(_Segment(start, first, size))
        place = first + size
    return segments


def _number(data, place):
    """A number in LEB128, and what follows it. Addresses are signed there, and never negative."""
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place
