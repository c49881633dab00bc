# SPDX-License-Identifier: BSD-3-Clause
"""Sources with a part for AVX-512 compile for processors with it and without it, whichever processor builds them.

These are the sources that mention __AVX or include a header that does. The build compiles them for one kind of processor;
here the compiler reads each of them for the other kind and writes nothing. HYPERPLANE_BUILD is the folder of the build.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import repository

INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def with_parts_for_processors():
    """The files that mention __AVX, and all that include one of them, directly or not."""
    names = [name for name in repository.files() if name.endswith((".cpp", ".hpp"))]
    texts = {name: (repository.ROOT / name).read_text() for name in names}
    includes = {name: set(INCLUDED.findall(text)) for name, text in texts.items()}
    found = {name for name, text in texts.items() if "__AVX" in text}
    while more := {name for name in names if name not in found and includes[name] & found}:
        found |= more
    return found


def commands(build):
    """{source: the words of its compilation without its output}, for sources that stand in the build by themselves."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        del words[words.index("-o"):words.index("-o") + 2]
        found[pathlib.Path(entry["directory"], entry["file"]).resolve()] = (words, entry["directory"])
    return found


def other_processor(words):
    """x86-64-v3, which has no AVX-512, where the command is for a processor with it, else x86-64-v4."""
    options = [word for word in words if word.startswith("-march=")]
    compiler = next(word for word in words if not word.endswith("ccache"))
    done = subprocess.run([compiler, *options, "-dM", "-E", "-x", "c++", "/dev/null"], capture_output=True, text=True, check=True)
    return "x86-64-v3" if "__AVX512F__" in done.stdout else "x86-64-v4"


def compiled(source, words, folder, processor):
    """What the compiler says against the source, or nothing."""
    others = [word for word in words if not word.startswith(("-march=", "-mprefer-vector-width="))]
    done = subprocess.run([*others, f"-march={processor}", "-fsyntax-only"], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{source} does not compile for {processor}:\n{done.stderr[:2000]}"


def main():
    build = pathlib.Path(os.environ["HYPERPLANE_BUILD"])
    known = commands(build)
    sources = [name for name in sorted(with_parts_for_processors())
               if name.endswith(".cpp") and (repository.ROOT / name).resolve() in known]
    if not sources:
        sys.exit(f"{build} compiles none of the sources with parts for processors: this test is out of date")
    processor = other_processor(known[(repository.ROOT / sources[0]).resolve()][0])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = [pool.submit(compiled, name, *known[(repository.ROOT / name).resolve()], processor)
                 for name in sources]
        errors = list(filter(None, (answer.result() for answer in asked)))
    print("\n".join(errors) or f"{len(sources)} sources compile for {processor}, too")
    sys.exit(1 if errors else 0)


main()
