# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the report share: records in a scratch folder, report.py called as a function, and a reader of pages.

Leaves with code 77, skipped, without h5py and matplotlib.
"""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

try:
    import h5py  # noqa: F401
    import matplotlib  # noqa: F401
except ImportError as missing:
    print(f"skipped: the report's tests, {missing} ({sys.executable})")
    sys.exit(77)

from make_record import make_record

SCRIPT = Path(__file__).resolve().parents[2] / "apps" / "reporting" / "report.py"
sys.path.insert(0, str(SCRIPT.parent))

import report  # noqa: E402
from reporting import plots  # noqa: E402


class Outline(HTMLParser):
    """Checks that tags close in order and collects what the tests examine."""

    VOID = {"meta", "br", "img", "link", "input"}

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page.replace("<wbr>", ""))  # where a name may be broken
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another tag")

    def handle_data(self, data):
        self.texts.append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.attributes if name == tag]

    def pictures(self):
        """The figures, without the samples of curves beside their names."""
        return [svg for svg in self.named("svg") if not svg.get("aria-hidden")]


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, **options):
        make_record(self.path(name), **options)
        return self.path(name)

    def report(self, *arguments):
        """The finished process of report.py with these arguments."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = report.main(arguments)
            except SystemExit as leaving:
                code = leaving.code
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())

    @staticmethod
    def undrawn():
        """While this lasts, pages have empty pictures with their descriptions, for tests of what else is on them: to draw the four
        of a page takes longer than all the rest."""
        return mock.patch.object(plots, "to_svg", lambda _, description: f'<svg role="img" aria-label="{description}"></svg>')

    def page(self, *records):
        Path(self.path("page.html")).unlink(missing_ok=True)
        done = self.report("-o", self.path("page.html"), *records)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("page.html"), encoding="utf-8") as file:
            return file.read()

    def undrawn_page(self, *records):
        with self.undrawn():
            return self.page(*records)

    def refused(self, *records):
        """The message of a report that must end with code 7 without writing anything."""
        done = self.report(*records)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "html" in name], [])
        return done.stderr
