import gzip
import io
import tarfile
import zipfile
import zlib
from pathlib import PurePosixPath


def pack_files(files: dict) -> dict:
    """Pack texts into archives, in memory, and read them again.

    Args:
        files (dict): Name to text.
    """
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    tarred.seek(0)
    with zipfile.ZipFile(zipped) as archive, tarfile.open(fileobj=tarred) as tar:
        return {
            "zip": {entry.filename: entry.file_size for entry in archive.infolist()},
            "tar": [member.name for member in tar.getmembers()],
            "same": all(archive.read(name).decode() == text for name, text in files.items()),
            "stems": sorted(PurePosixPath(name).stem for name in files),
            "gzip": gzip.decompress(gzip.compress(b"x" * 1000)) == zlib.decompress(zlib.compress(b"x" * 1000)),
        }
