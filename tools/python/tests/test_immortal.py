"""Making objects immortal in a component: which words change, and when it is refused."""

import hashlib
import struct
import unittest

from tests import host  # noqa: F401  (puts this folder's modules in the path)

import immortal

MARKER = hashlib.sha256(b"bulkhead: objects of the snapshot").digest()
NONE, TEXT, DEAD, KIND = 0x1000, 0x2000, 0x3000, 0x4000
LIST = 0x8000
IMMORTAL = 7 << 28


def number(value):
    """LEB128."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def section(kind, content):
    return bytes([kind]) + number(len(content)) + content


def component(headers, listed, marker=MARKER):
    """A component with one module; its memory has object headers, and the list of them."""
    words = struct.pack(f"<{len(listed) * 2 + 1}I", len(listed), *sum(listed, ()))
    pieces = [(at, struct.pack("<2I", *header)) for at, header in headers.items()]
    pieces.append((LIST, marker + words))
    data = b"".join(b"\0\x41" + number(at) + b"\x0b" + number(len(piece)) + piece
                    for at, piece in pieces)
    module = b"\0asm\1\0\0\0" + section(5, b"\1\0\1") + section(11, number(len(pieces)) + data)
    return bytearray(b"\0asm\r\0\1\0" + section(0, b"\4name") + section(1, module))


HEADERS = {NONE: (IMMORTAL, KIND), TEXT: (3, KIND), DEAD: (0x12345678, LIST), KIND: (9, KIND)}
LISTED = [(NONE, KIND), (TEXT, KIND), (KIND, KIND)]


class ImmortalTest(unittest.TestCase):
    def test_objects_become_immortal_and_the_list_goes(self):
        given = component(HEADERS, LISTED)
        size = len(given)
        self.assertEqual(immortal.make_immortal(given), 2)
        self.assertEqual(len(given), size)
        for uses in (3, 9):
            self.assertIn(struct.pack("<2I", 0x50000000 + uses, KIND), given)
        self.assertIn(struct.pack("<2I", IMMORTAL, KIND), given)
        self.assertNotIn(MARKER, given)

    def test_an_object_that_died_is_left_alone(self):
        given = component(HEADERS, [*LISTED * 10, (DEAD, KIND)])
        immortal.make_immortal(given)
        self.assertIn(struct.pack("<2I", *HEADERS[DEAD]), given)

    def test_older_copies_of_the_list_are_passed_over(self):
        given = component(HEADERS, LISTED)
        stale = MARKER + bytes(8)
        memory = immortal._Memory(given)
        memory._bytes[0x6100:0x6100 + len(stale)] = stale
        self.assertEqual(immortal._list(memory)[0], LIST)

    def test_a_component_that_looks_different_is_refused_unchanged(self):
        cases = {
            "no list": component(HEADERS, LISTED, bytes(32)),
            "None is mortal": component({**HEADERS, NONE: (5, KIND)}, LISTED),
            "most objects are not there": component(HEADERS, [*LISTED, (DEAD, KIND)]),
            "an address beyond the memory": component(HEADERS, [*LISTED, (1 << 30, KIND)]),
            "nothing at all": bytearray(b"\0asm\r\0\1\0"),
            "cut off": component(HEADERS, LISTED)[:60],
        }
        for what, given in cases.items():
            before = bytes(given)
            with self.subTest(what), self.assertRaises(immortal.Unexpected):
                immortal.make_immortal(given)
            self.assertEqual(given, before)


if __name__ == "__main__":
    unittest.main()
