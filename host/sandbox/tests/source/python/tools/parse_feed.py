import xml.etree.ElementTree as ET
from email.utils import parsedate_to_datetime
from xml.sax.saxutils import escape


def parse_feed(xml: str) -> dict:
    """Read an RSS feed.

    Args:
        xml (str): The feed.
    """
    root = ET.fromstring(xml)
    items = [
        {
            "title": item.findtext("title"),
            "link": item.find("link").attrib.get("href", item.findtext("link")),
            "date": parsedate_to_datetime(item.findtext("pubDate")).date().isoformat(),
        }
        for item in root.iter("item")
    ]
    ET.SubElement(root, "count").text = str(len(items))
    return {"items": items, "end": ET.tostring(root, encoding="unicode")[-29:], "escaped": escape("a<b&c")}
