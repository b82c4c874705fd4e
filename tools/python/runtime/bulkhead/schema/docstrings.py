"""Docstrings in Google, Sphinx and NumPy style: the description and that of each parameter."""

import inspect
import re
from dataclasses import dataclass, field

_PARAMETER_SECTIONS = {
    "args", "arguments", "parameters", "params", "keyword args", "keyword arguments",
    "other parameters", "attributes",
}
_OTHER_SECTIONS = {
    "returns", "return", "yields", "yield", "raises", "exceptions", "except", "example",
    "examples", "note", "notes", "warning", "warnings", "references", "see also", "todo",
}
_GOOGLE_TITLE = re.compile(r"^([A-Za-z][A-Za-z ]*):\s*$")
_GOOGLE_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\((?:.*)\))?\s*:(.*)$", re.DOTALL)
_SPHINX_FIELD = re.compile(r"^:(\w+)((?:\s+[^:\n]+)?):(.*)$")
_NUMPY_RULE = re.compile(r"^\s*-{3,}\s*$")


@dataclass
class Docstring:
    """What a docstring says: `text` is the description, `parameters` maps names to texts."""

    text: str = ""
    parameters: dict = field(default_factory=dict)


def parse(raw):
    """The parts of a docstring, whichever of the three styles it is written in."""
    lines = inspect.cleandoc(raw).splitlines()
    description, sections = _split(lines)
    parsed = Docstring(_description(description))
    examples = ""
    for title, body, is_numpy in sections:
        if title in _PARAMETER_SECTIONS:
            parsed.parameters.update(_entries(body, is_numpy))
        elif title in ("example", "examples") and not examples:
            examples = "\n".join(["Examples:" if title == "examples" else "Example:", *body])
    if examples:
        parsed.text = f"{parsed.text}\n\n{examples.rstrip()}".strip()
    return parsed


def _split(lines):
    """The lines before the first section, and the sections as (title, lines, in NumPy style)."""
    description, sections, current = [], [], None
    index = 0
    while index < len(lines):
        line = lines[index]
        title = _section_title(lines, index)
        sphinx = _SPHINX_FIELD.match(line)
        if title:
            current, is_numpy = [], _is_numpy(lines, index)
            sections.append((title, current, is_numpy))
            index += 2 if is_numpy else 1
            continue
        if sphinx:
            current = []
            sections.append(_sphinx_section(sphinx, current))
        elif current is not None:
            current.append(line)
        else:
            description.append(line)
        index += 1
    return description, sections


def _is_numpy(lines, index):
    return index + 1 < len(lines) and _NUMPY_RULE.match(lines[index + 1]) is not None


def _section_title(lines, index):
    """The title of the section that starts at this line, in small letters."""
    line = lines[index]
    if _is_numpy(lines, index):
        name = line.strip().lower()
    elif match := _GOOGLE_TITLE.match(line):
        name = match.group(1).lower()
    else:
        return None
    return name if name in _PARAMETER_SECTIONS or name in _OTHER_SECTIONS else None


def _sphinx_section(match, body):
    """A field such as `:param int a: text`, written as a section with one Google entry."""
    kind, argument, text = match.group(1), match.group(2).split(), match.group(3).strip()
    if kind in ("param", "parameter", "arg", "argument", "key", "keyword") and argument:
        body.append(f"{argument[-1]}: {text}")
        return "args", body, False
    return kind.lower(), body, False


def _description(lines):
    """First line, a blank line, the rest: as clients know it."""
    text = "\n".join(lines).strip()
    short, _, long = text.partition("\n")
    return f"{short}\n\n{long.strip()}" if long.strip() else short


def _entries(lines, is_numpy):
    """Name to text for the entries of a parameter section.

    A NumPy entry (`name : type`) has its text on the lines below.
    """
    found = {}
    for entry in _chunks(lines):
        head, _, rest = entry.partition("\n")
        if match := _GOOGLE_ENTRY.match(head):
            name, text = match.group(1), "" if is_numpy else match.group(2).strip()
        elif is_numpy and re.match(r"^\*{0,2}\w+$", head.strip()) and rest:
            name, text = head.strip().lstrip("*"), ""
        else:
            continue
        rest = inspect.cleandoc("\n" + rest) if rest else ""
        found[name] = "\n".join(part for part in (text, rest) if part)
    return found


def _chunks(lines):
    """Entries: lines at the section's own indent start one, deeper lines continue it."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    indent = len(filled[0]) - len(filled[0].lstrip())
    chunks = []
    for line in lines:
        deeper = not line.strip() or line[:indent + 1].isspace() and len(line) > indent
        if deeper and chunks:
            chunks[-1].append(line[indent:])
        elif line.strip():
            chunks.append([line.strip()])
    return ["\n".join(chunk).rstrip() for chunk in chunks]
