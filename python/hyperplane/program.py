# SPDX-License-Identifier: BSD-3-Clause
"""Starts the program hyperplane from Python: runs, comparisons and studies of decks, which may be dictionaries."""

import contextlib
import numbers
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import FILE_ERROR, USAGE, RunError
from .load import load
from .record import DICTIONARY, without_temporary

# Exit codes with which a run has ended and left a record: the record says how.
WITH_RECORD = (0, 3, 4, 5, 8)


def find_program():
    """The program: $HYPERPLANE, that of the prefix in which this module lies, or the one on the search path."""
    if named := os.environ.get("HYPERPLANE"):
        fault = ("does not exist" if not os.path.exists(named) else "is no file" if not os.path.isfile(named) else
                 "is not executable" if not os.access(named, os.X_OK) else "")
        if fault:
            raise RunError(FILE_ERROR, f"the environment variable HYPERPLANE names {named}, which {fault}; set it to the "
                                       "program's file, or unset it")
        return os.path.abspath(named)
    here = Path(__file__).resolve()
    places = [here.parents[3] / "bin/hyperplane", here.parents[2] / "build/release/apps/hyperplane",
              shutil.which("hyperplane")]
    for place in places:
        if place and os.access(place, os.X_OK) and Path(place).is_file():
            return str(place)
    raise RunError(FILE_ERROR, "the program hyperplane was not found; name it in the environment variable HYPERPLANE")


def name_of(program):
    """The program's name in messages, with where it comes from."""
    named = os.environ.get("HYPERPLANE")
    return f"the program {program}" + (", which the environment variable HYPERPLANE names," if named else "")


def value_text(value):
    """A value as a deck has it: True as true, a list or an array as its elements."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return " ".join(map(value_text, value))
    return str(value)


def on_one_line(text):
    """The text, which is a section's, a key's or a value's."""
    if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")):
        raise RunError(USAGE, f"deck: {text!r} has a line break; a section, a key and a value are on one line each")
    return text


def quoted(text, special=";#"):
    """A value as it is written after `key =`: in quotes where it would be read differently."""
    on_one_line(text)
    plain = text and text == text.strip() and text[0] != '"' and not set(text) & set(special)
    return text if plain else '"' + text.replace('"', '""') + '"'


def listed(text):
    """The values of a list as a deck's section "sweep" has it: separated by commas that are not in quotes."""
    in_quotes = r'"(?:[^"]|"")*"'
    parts = [part.strip() for part in re.findall(rf"(?:^|,)\s*({in_quotes}[^,]*|[^,]*)", on_one_line(text))]
    return ", ".join(part if not part or re.fullmatch(in_quotes, part) else quoted(part) for part in parts)


def sections_of(deck):
    """{"problem": {"name": "poisson"}} of a dictionary, in which that may also be "problem.name": "poisson"."""
    sections = {}
    for name, value in deck.items():
        section, dot, key = str(name).partition(".")
        if not dot and not isinstance(value, dict):
            raise RunError(USAGE, f"deck: '{name}' is {value!r}; expected sections with keys, as in "
                              '{"problem": {"name": "poisson"}, "grid": {"cells": 64}}')
        keys = {key: value} if dot else value
        for twice in keys.keys() & sections.setdefault(section, {}).keys():
            raise RunError(USAGE, f"deck: {section}.{twice} is given twice")
        sections[section].update(keys)
    return sections


def to_deck(deck):
    """The text of a deck from {"problem": {"name": "poisson"}, "grid": {"cells": 64}, ...}. In "sweep" a list is a list
    of values, and its elements may be lists; a text is one value, or several between commas that are not in quotes:
    "8, 16"."""
    lines = []
    for section, keys in sections_of(deck).items():
        lines.append(f"[{on_one_line(section)}]")
        for key, value in keys.items():
            many = section == "sweep" and isinstance(value, (list, tuple))
            as_in_a_deck = section == "sweep" and isinstance(value, str) and "," in value and "." in key
            text = (", ".join(quoted(value_text(one), special=";#,") for one in value) if many
                    else listed(value) if as_in_a_deck else quoted(value_text(value)))
            lines.append(f"{on_one_line(str(key))} = {text}")
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def deck_file(deck):
    """The path of a deck. A dictionary becomes a file in the current folder, to which the names in it refer."""
    if not isinstance(deck, dict):
        if not isinstance(deck, (str, os.PathLike)):
            raise RunError(USAGE, f"deck: expected the name of a file, or a dictionary such as "
                              f'{{"problem": {{"name": "poisson"}}}}; got a {type(deck).__name__}')
        yield os.fspath(deck)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".ini", prefix=DICTIONARY, dir=".", encoding="utf-8") as file:
        file.write(to_deck(deck))
        file.flush()
        yield os.path.relpath(file.name)


def settings(changes):
    """--set words of {"solver.rtol": 1e-10}, of ["solver.rtol=1e-10"], or of "solver.rtol=1e-10"."""
    if not isinstance(changes, (dict, str, list, tuple, type(None))):
        raise RunError(USAGE, f"set: expected a dictionary, a text or a list of texts; got a {type(changes).__name__}")
    texts = [changes] if isinstance(changes, str) else changes or ()
    for text in () if isinstance(changes, dict) else texts:
        if not isinstance(text, str) or "=" not in text:
            raise RunError(USAGE, f'set: expected texts such as "solver.rtol=1e-10"; got {text!r}')
    pairs = changes.items() if isinstance(changes, dict) else (text.split("=", 1) for text in texts)
    return [word for key, value in pairs for word in ("--set", f"{key}={value_text(value)}")]


def unquoted(text, comment=r"(?:^|\s)[;#]"):
    """The value that a text behind `key =` stands for: without quotes, or without what follows `comment`."""
    text = text.strip()
    if not text.startswith('"'):
        return re.split(comment, text)[0].strip() if comment else text
    inside = re.match(r'"((?:[^"]|"")*)"', text)
    return inside[1].replace('""', '"') if inside else text


def output_file_of(deck):
    """output.file of a deck; "" if it has none. A record that is run again has none, whatever its own deck had."""
    if isinstance(deck, dict):
        return value_text(sections_of(deck).get("output", {}).get("file", ""))
    if not os.path.isfile(deck):  # a FIFO can be read once; what is missing is the program's to say
        return ""
    content = Path(deck).read_bytes()
    if content.startswith((b"hyperplane ", b"\x89HDF")):
        return ""
    section, named = "", ""
    for line in content.decode("utf-8-sig", errors="replace").splitlines():
        if header := re.match(r"\s*\[\s*([^\]]*?)\s*\]", line):
            section = header[1]
        elif section == "output" and (value := re.match(r"\s*file\s*\??=(.*)", line)):
            named = unquoted(value[1])
    return named


def record_of(deck, changes, output):
    """The file that a run is asked to write, and whether words of --set or the deck name it already: `output`, or
    output.file. "" if nobody names one."""
    pairs = [word.partition("=") for word in settings(changes)[1::2]]
    output = file_name("output", output) if output else ""
    set_to = [unquoted(value, comment=None) for name, _, value in pairs if name.strip() == "output.file"]
    if output and set_to and set_to[-1] not in ("", output):
        raise RunError(USAGE, f"output={output!r} and set output.file={set_to[-1]!r} both name the record's "
                          "file, and only one is written; leave one of them out")
    if output:
        return output, False
    named = set_to[-1] if set_to else output_file_of(deck)
    return named, bool(named)


def in_words(said):
    """What the program says, without the name of a dictionary's file and with Python's functions in place of verbs."""
    file = DICTIONARY + r"\w+\.ini"
    said = re.sub(f"hyperplane study plan {file} checks its cases, .* one of them", "hyperplane.study(deck) runs its cases", said)
    said = re.sub(f"hyperplane (study|run|compare)( run)? {file}", r"hyperplane.\1(deck)", said)
    return without_temporary(said)


def start(words, progress, allowed=(0,)):
    """Runs the program; returns its exit code. What it says goes to stderr with `progress`; errors are raised."""
    program = find_program()
    command = [program, *words] + ([] if progress else ["--quiet"])
    said = []
    try:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise RunError(FILE_ERROR, f"{name_of(program)} cannot be started: {error.strerror}") from error
    with process:
        try:
            for line in process.stderr:
                line = in_words(line)
                said.append(line)
                if progress:
                    print(line, end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            process.terminate()  # it keeps its state
            raise
    if process.returncode not in allowed:
        errors = [line for line in said if not line.startswith("info:")] or said
        raise RunError(process.returncode, "".join(errors).strip() or
                       f"{name_of(program)} ended with exit code {process.returncode} and said nothing")
    return process.returncode


def load_written(path, exit_code):
    """The file that the program has written, unless it is another program."""
    if not os.path.exists(path):
        raise RunError(exit_code or FILE_ERROR, f"{name_of(find_program())} ended with exit code {exit_code} and wrote no "
                                                "record; is it hyperplane?")
    return load(path)


def run(deck, *, set=None, progress=False, output=None, restart=False):
    """Solves the case of a deck; returns its Record, also where it did not converge (`record.exit_code`).

    deck: a file's name, or a dictionary {"problem": {"name": "poisson"}, "grid": {"cells": 64}}.
    set: {"solver.rtol": 1e-10}, as --set. output: where the record is kept, beside its fields; short for output.file in
    `set`, so it goes before that of the deck. Where none of them names a file, the record is only read, with its
    fields. restart: as --restart; it needs a record that was kept. Raises RunError where there is no record, for a
    wrong deck for instance.
    """
    with deck_file(deck) as file, tempfile.TemporaryDirectory() as scratch:
        kept, named = record_of(deck, set, output)
        record = kept or os.path.join(scratch, "run.h5")
        naming = [] if named else ["--set", f"output.file={record}"]
        code = start(["run", file, *settings(set), *naming] + flag("restart", restart), progress, WITH_RECORD)
        written = load_written(record, code)
        return written if kept else written.hold_fields()


def names_text(option, names):
    """The names of solvers or preconditioners, of a text or of texts, as the command line has them."""
    try:
        listed = [names] if isinstance(names, str) else [] if names is None else list(names)
    except TypeError:
        listed = [names]
    if not all(isinstance(name, str) for name in listed):
        raise RunError(USAGE, f'{option}: expected names, such as ["jacobi", "none"] or "jacobi, none"; got {names!r}')
    return ",".join(listed)


def file_name(option, name):
    if not isinstance(name, (str, os.PathLike)):
        raise RunError(USAGE, f"{option}: expected the name of a file; got {name!r}")
    return os.fspath(name)


def flag(option, value):
    """--OPTION, if the value is True."""
    if value not in (True, False):
        raise RunError(USAGE, f"{option}: expected True or False; got {value!r}")
    return [f"--{option}"] if value else []


def number(option, value):
    """--OPTION with a number that begins with 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise RunError(USAGE, f"{option}: expected integer >= 1, got {value!r} (--{option})")
    return [f"--{option}", str(value)]


def compare(deck, *, preconditioners=(), solvers=(), auto=False, reps=None, set=None, progress=False, output=None):
    """Compares solvers and preconditioners on a deck's first linear system; returns the Comparison."""
    with deck_file(deck) as file, tempfile.TemporaryDirectory() as scratch:
        path = file_name("output", output) if output else os.path.join(scratch, "compare.h5")
        words = ["compare", file, "-o", path, *settings(set), *flag("auto", auto)]
        for option, names in (("preconditioners", preconditioners), ("solvers", solvers)):
            text = names_text(option, names)
            words += [f"--{option}", text] if text else []
        words += number("reps", reps) if reps is not None else []
        return load_written(path, start(words, progress, WITH_RECORD))


def study(deck, *, jobs=1, progress=False, output=None):
    """Runs the cases of a deck with a section sweep; returns the Study. Cases that were done before are not repeated
    where `deck` is a file; those of a dictionary are only read."""
    with deck_file(deck) as file, tempfile.TemporaryDirectory() as scratch:
        if isinstance(deck, dict):
            deck = sections_of(deck)
            deck["sweep"] = {**deck.get("sweep", {}), "folder": os.path.join(scratch, "cases")}
            Path(file).write_text(to_deck(deck), encoding="utf-8")
        path = file_name("output", output).removesuffix(".h5") if output else os.path.join(scratch, "study")
        start(["study", "run", file, *number("jobs", jobs)], progress, (0, 8))
        return load_written(path + ".h5", start(["study", "collect", file, "-o", path], progress))
