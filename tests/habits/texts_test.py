# SPDX-License-Identifier: BSD-3-Clause
"""Kernel texts (.cuh) include what they use, and at their top.

A text that compiles only in the middle of another one can be read, and changed, only together with it. So all includes
of a text stand before its code, and each type or function of another text that it names is declared in a file that it
includes, directly or not. Names of CUDA, of macros and of local variables are left to the compiler.
"""

import re
import sys

import repository

ROOMS = ("core/", "precond/")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?)\s+(?:alignas\([^)]*\)\s+)?(\w+)|^using\s+(\w+)\s*=|"
                  r"^typedef\s.*?(\w+);", re.MULTILINE)
FUNCTION = re.compile(r"^(?:[\w:<>,*&]+\s+)*?__device__\s[^;={}()]*?(\w+)\(|^(?:HYPERPLANE_HD\w*)\s[^;={}()]*?(\w+)\(",
                      re.MULTILINE)
USED_TYPE = re.compile(r"(?<![\w.>:])([A-Z][A-Za-z]*[a-z]\w*)\b")
CALLED = re.compile(r"(?<![\w.>:])(?<!template )([a-z]\w*)(?:<[\w\s,+*-]*>)?\(")
# Members, locals, parameters of templates and kernels, wherever they stand: a word, which is a type, and then the name.
INNER = re.compile(r"(?<![\w.])(?!return\b|else\b|case\b|throw\b)(?:\w+|>|\])[*&]?\s+[*&]?(?:const\s+)?(\w+)"
                   r"(?=\s*[({=;,)>\[])|\.\.\.\s*(\w+)")
BOUNDS = re.compile(r"__launch_bounds__\([^{};]*?\)\s")


def without_words(text):
    """The code of a text, without comments, what strings say, and the bounds of launches."""
    return BOUNDS.sub("", STRING.sub('""', COMMENT.sub("", text)))


def declared(text):
    """The types and functions that a text declares outside of others."""
    code = without_words(text)
    return {name for pattern in (TYPE, FUNCTION) for match in pattern.finditer(code) for name in match.groups() if name}


def late_includes(text):
    """Line numbers of includes that stand behind code."""
    late, begun = [], False
    for number, line in enumerate(COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text).splitlines(), 1):
        if INCLUDE.match(line):
            if begun:
                late.append(number)
        elif line.strip() and not line.lstrip().startswith("#"):
            begun = True
    return late


def reached(name, texts):
    """A text and all that it includes, directly or not."""
    found, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in found and one in texts:
            found.add(one)
            waiting += [match.group(1) for line in texts[one].splitlines() if (match := INCLUDE.match(line))]
    return found


def missing(name, texts, declarations):
    """Names that a text uses and that are declared only in texts which it does not include."""
    code = without_words(texts[name])
    code = "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("#"))
    known = set().union(*(declarations[one] for one in reached(name, texts)))
    for one in reached(name, texts):
        known.update(word for pair in INNER.findall(without_words(texts[one])) for word in pair)
    used = set(USED_TYPE.findall(code)) | set(CALLED.findall(code))
    return sorted((word, sorted(one for one in texts if word in declarations[one]))
                  for word in used - known if any(word in names for names in declarations.values()))


def check_itself():
    """The rules, on texts that do not exist."""
    texts = {"a.cuh": "struct Step {};\n__device__ inline int add(int x) {\n", "b.cuh": '#include "a.cuh"\n',
             "c.cuh": "// add(Step)\nint f(Step s) { return add(1) + s.add(2); }\n"}
    declarations = {name: declared(text) for name, text in texts.items()}
    assert declarations["a.cuh"] == {"Step", "add"}, declarations
    assert [word for word, _ in missing("c.cuh", texts, declarations)] == ["Step", "add"]
    texts["c.cuh"] = '#include "b.cuh"\n' + texts["c.cuh"]
    assert not missing("c.cuh", texts, declarations)
    assert late_includes('// x\n#pragma once\n#include "a"\nint x;\n\n#include "b"\n') == [6]


def main():
    check_itself()
    texts = {name: (repository.ROOT / name).read_text(encoding="utf-8") for name in repository.files()
             if name.startswith(ROOMS) and name.endswith((".cuh", ".hpp"))}
    kernels = [name for name in texts if name.endswith(".cuh")]
    # What kernels may include: texts, and the headers that texts include.
    seen = set().union(*(reached(name, texts) for name in kernels))
    texts = {name: texts[name] for name in seen}
    declarations = {name: declared(text) for name, text in texts.items()}
    faults = [f"{name}:{number}: this include stands behind code" for name in kernels
              for number in late_includes(texts[name])]
    faults += [f"{name}: includes no file that declares {word}, as {', '.join(where)} does" for name in kernels
               for word, where in missing(name, texts, declarations)]
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
