import httpx


async def crawl(base_url: str, paths: List[str]) -> list:
    """Fetch several pages at once.

    Args:
        base_url (str): Address of the site.
        paths (List[str]): The pages.
    """
    import asyncio

    async with httpx.AsyncClient(base_url=base_url, timeout=5, headers={"X-Crawler": "1"}) as client:
        responses = await asyncio.gather(*(client.get(path) for path in paths))
    return [[path, response.status_code, response.text[:40]] for path, response in zip(paths, responses)]
