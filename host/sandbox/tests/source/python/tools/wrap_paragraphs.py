import textwrap


def wrap_paragraphs(text: str, width: int = 40, bullet: bool = False) -> str:
    """Wrap paragraphs to a width.

    Args:
        text (str): Paragraphs with blank lines between them.
        width (int): Characters of a line.
        bullet (bool): Whether each paragraph is an item of a list.
    """
    first, rest = ("* ", "  ") if bullet else ("", "")
    paragraphs = [
        textwrap.fill(part, width, initial_indent=first, subsequent_indent=rest)
        for part in textwrap.dedent(text).strip().split("\n\n")
    ]
    return "\n\n".join(paragraphs) + "\n" + textwrap.shorten(text, 30, placeholder=" […]")
