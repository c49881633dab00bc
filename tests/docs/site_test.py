# SPDX-License-Identifier: BSD-3-Clause
"""The site that docs/site.py builds: every link leads somewhere, anchors included, and no page loads from elsewhere."""

import html.parser
import pathlib
import posixpath
import shutil
import sys
import tempfile
import unittest
import urllib.parse

from scripts import module_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = module_of(ROOT / "docs/site.py")


class Page(html.parser.HTMLParser):
    """The anchors of a page, what it links to and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if key in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") != "canonical":
            self.loads.append(values["href"])
        if "src" in values:
            self.loads.append(values["src"])


class Lines(unittest.TestCase):
    PAGES = {"docs/A.md": "A.md", "docs/problems/B.md": "problems/B.md", "README.md": "index.md"}

    def expect(self, here, line, staged):
        self.assertEqual(SITE.staged_line(line, here, self.PAGES), staged)

    def test_pages_and_pictures(self):
        self.expect("README.md", "[a](docs/A.md) and [b](docs/problems/B.md#x)", "[a](A.md) and [b](problems/B.md#x)")
        self.expect("docs/problems/B.md", "[home](../../README.md)", "[home](../index.md)")
        self.expect("README.md", "![plot](docs/convergence.png)", "![plot](convergence.png)")

    def test_files_that_are_no_pages_become_their_names(self):
        self.expect("docs/A.md", "[this deck](../inputs/poisson.ini)", "this deck (`inputs/poisson.ini`)")
        self.expect("docs/A.md", "[`poisson.ini`](../inputs/poisson.ini)", "`poisson.ini`")

    def test_addresses_and_anchors_stay(self):
        for line in ("[x](https://semver.org/)", "[x](#here)", "no link"):
            self.expect("docs/A.md", line, line)


@unittest.skipIf(shutil.which("mkdocs") is None, "mkdocs is missing (Debian: mkdocs)")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.status = SITE.build(cls.folder)
        cls.pages = {str(path.relative_to(cls.folder)): Page(path.read_text(encoding="utf-8"))
                     for path in cls.folder.rglob("*.html")}

    def test_it_is_built_without_a_warning(self):
        self.assertEqual(self.status, 0)
        for page in SITE.pages().values():
            self.assertIn(page.replace("README.md", "index.md").replace(".md", ".html"), self.pages)

    def test_links_lead_somewhere(self):
        wrong = []
        for name, page in self.pages.items():
            for link in (page.links + page.loads if name != "404.html" else []):  # its links begin at a server's root
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                path = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(parts.path)))
                target = name if not parts.path else path
                if not (self.folder / target).is_file():
                    wrong.append(f"{name}: no {link}")
                elif parts.fragment and urllib.parse.unquote(parts.fragment) not in self.pages[target].anchors:
                    wrong.append(f"{name}: no anchor {link}")
        self.assertEqual(wrong, [])

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, page in self.pages.items():
            for load in page.loads:
                self.assertFalse(urllib.parse.urlsplit(load).netloc, f"{name} loads {load}")


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    for _, reason in done.skipped:
        print(f"skipped: {reason}")
    sys.exit(1 if not done.wasSuccessful() else 77 if done.skipped else 0)
