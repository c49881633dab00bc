# SPDX-License-Identifier: BSD-3-Clause
"""The size of every struct that host and kernels share in an arguments header is asserted there.

Host code and kernels are compiled by different compilers. Where these disagree about padding, a kernel reads the wrong
members; with an asserted size one of the two does not compile.
"""

import re
import sys

import repository

STRUCT = re.compile(r"^struct\s+(?:alignas\([^)]*\)\s+)?(\w+)", re.MULTILINE)
ASSERTION = re.compile(r"static_assert\(([^;]*)\);")


def unasserted(text):
    """Structs of a header, outside of others, whose size no static_assert names."""
    asserted = set(re.findall(r"sizeof\((\w+)", " ".join(ASSERTION.findall(text))))
    return [name for name in STRUCT.findall(text) if name not in asserted]


def main():
    example = "struct A {\n    struct B {};\n};\nstruct alignas(16) C {\n};\ntemplate <int n>\nstruct D {};\nstatic_assert("
    assert unasserted(example + "sizeof(A) == 1 &&\n sizeof(C) == 16);") == ["D"]
    assert unasserted(example + "sizeof(D<3>) == 1);") == ["A", "C"]
    faults = [f"{name}: nothing asserts the size of {struct}: add it to a static_assert"
              for name in repository.files() if name.endswith("arguments.hpp")
              for struct in unasserted((repository.ROOT / name).read_text(encoding="utf-8"))]
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
