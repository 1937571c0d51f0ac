import os
import shutil
import sysconfig
from pathlib import Path


def program() -> str:
    """The path of bookctl: the one that this package brought, else the one on the `PATH`."""
    name = "bookctl.exe" if os.name == "nt" else "bookctl"
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))),
        # `pip install --target`
        Path(__file__).parent.parent / "bin",
    ]
    for folder in folders:
        if (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is neither in {folders[0]} nor on the PATH; install the package bookctl again")
    return found
