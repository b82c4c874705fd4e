import asyncio


async def worker_queue(jobs: List[int], workers: int = 2) -> dict:
    """Spread jobs over workers.

    Args:
        jobs (List[int]): Milliseconds that each job takes.
        workers (int): How many work at a time.
    """
    queue, done = asyncio.Queue(), []
    for job in jobs:
        queue.put_nowait(job)

    async def work():
        while not queue.empty():
            job = await queue.get()
            await asyncio.sleep(job / 1000)
            done.append(job)

    async def countdown(start):
        for number in range(start, 0, -1):
            yield number
            await asyncio.sleep(0)

    async with asyncio.timeout(5):
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.005)
    except TimeoutError as error:
        late = type(error).__name__
    return {"done": sorted(done), "late": late, "count": [number async for number in countdown(3)]}
