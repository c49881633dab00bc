# SPDX-License-Identifier: BSD-3-Clause
"""Every source names its licence in its first line, or in its second one after #!."""

import sys

import repository

LINE = "SPDX-License-Identifier: BSD-3-Clause"
SLASHES = repository.CODE + (".js",)
HASHES = (".py", ".sh", ".cmake", ".toml", "CMakeLists.txt", ".ci/run")


def expected(name):
    """The line with which a file must begin; None if REUSE.toml states its licence."""
    if name.endswith(SLASHES):
        return f"// {LINE}"
    if name.endswith(HASHES):
        return f"# {LINE}"
    return f"/* {LINE} */" if name.endswith(".css") else None


def main():
    missing = []
    for name in repository.files():
        line = expected(name)
        if line is None:
            continue
        first = (repository.ROOT / name).read_text(encoding="utf-8").split("\n", 2)
        if first[1 if first[0].startswith("#!") else 0] != line:
            missing.append(f"{name} does not begin with: {line}")
    texts = {(repository.ROOT / name).read_text() for name in ("LICENSE", "LICENSES/BSD-3-Clause.txt")}
    if len(texts) != 1:
        missing.append("LICENSE and LICENSES/BSD-3-Clause.txt differ")
    print(*missing, sep="\n")
    return 1 if missing else 0


sys.exit(main())
