"""Time zones from memory: afterwards the files of the package tzdata are not there."""

import importlib.resources
import io
import zoneinfo
import zoneinfo._common


def install():
    """Keeps the data of all zones and makes `zoneinfo` read it."""
    data = {}
    root = importlib.resources.files("tzdata") / "zoneinfo"
    names = (root.parent / "zones").read_text().split()
    for name in names:
        data[name] = root.joinpath(*name.split("/")).read_bytes()

    def load_tzdata(key):
        """The data of a zone."""
        if key not in data:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(data[key])

    def available_timezones():
        """The names of all zones."""
        return set(data)

    zoneinfo._common.load_tzdata = load_tzdata
    zoneinfo.available_timezones = available_timezones
    zoneinfo._tzpath.available_timezones = available_timezones
    zoneinfo.reset_tzpath(to=())
