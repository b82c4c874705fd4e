import shlex
from dataclasses import dataclass


@dataclass
class Move:
    x: int
    y: int


def route_command(line: str) -> str:
    """Understand a command.

    Args:
        line (str): What was typed.
    """
    match shlex.split(line):
        case ["move", x, y] if x.lstrip("-").isdigit():
            command = Move(int(x), int(y))
        case ["say", *words]:
            return " ".join(words).upper()
        case ["quit" | "exit"]:
            return "bye"
        case other:
            raise ValueError(f"unknown command: {other}")
    match command:
        case Move(x=0, y=0):
            return "stay"
        case Move(x, y):
            return f"go {x:+d} {y:+d}"
