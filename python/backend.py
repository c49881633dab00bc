# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel of the module hyperplane with Python's standard library alone, so that `pip install ./python` needs
neither a network nor other packages for building (PEP 517). The wheel contains the compiled part if the folder
build/release of the source tree has it for this Python; HYPERPLANE_BUILD names another build."""

import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = (HERE / "pyproject.toml").read_text(encoding="utf-8")


def of_project(key):
    return re.search(rf'^{key} = "(.*)"$', PROJECT, re.M)[1]


NAME, VERSION = of_project("name"), of_project("version")
INFO = f"{NAME}-{VERSION}.dist-info"


def compiled_part():
    """The files of the module that a build has compiled for this Python."""
    build = Path(os.environ.get("HYPERPLANE_BUILD", HERE.parent / "build/release"))
    return [path for path in [build / "python" / NAME / f"_library{sysconfig.get_config_var('EXT_SUFFIX')}"]
            if path.is_file()]


def tag(compiled):
    if not compiled:
        return "py3-none-any"
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{version}-{version}-{re.sub('[.-]', '_', sysconfig.get_platform())}"


def metadata(compiled):
    """The files of the .dist-info folder but RECORD."""
    needs = re.search(r"^dependencies = \[(.*)\]$", PROJECT, re.M)[1]
    requires = "".join(f"Requires-Dist: {name}\n" for name in re.findall(r'"([^"]*)"', needs))
    about = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: {of_project('description')}\n"
             f"License: BSD-3-Clause\nRequires-Python: {of_project('requires-python')}\n{requires}"
             "Requires-Dist: pandas; extra == 'pandas'\nProvides-Extra: pandas\n")
    return {f"{INFO}/METADATA": about.encode(),
            f"{INFO}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: hyperplane\nRoot-Is-Purelib: {str(not compiled).lower()}\n"
                              f"Tag: {tag(compiled)}\n").encode()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    compiled = compiled_part()
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in [*sorted((HERE / NAME).glob("*.py")), *compiled]}
    files |= metadata(compiled)
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{INFO}/RECORD"] = "".join([*lines, f"{INFO}/RECORD,,\n"]).encode()
    wheel = f"{NAME}-{VERSION}-{tag(compiled)}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return wheel
