#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds a site of the documents with mkdocs (Debian: mkdocs):  docs/site.py FOLDER

The README is its first page. Pages link to one another as in the repository; links to files that are no pages, such as
decks and sources, become their names, since the site does not hold them. Nothing is loaded from elsewhere.
"""

import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROOT_PAGES = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md",
              "SECURITY.md": "SECURITY.md"}
FIRST = ["tutorial", "cookbook", "install", "library", "python", "own_pde", "deck", "compare", "study", "slurm", "record", "reliability"]
FOLDERS = {"Problems": "problems", "Results": "results", "Architecture": "architecture", "Log of trials": "log"}
LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?\)")
FENCE = re.compile(r"^```")


def pages():
    """{path in the repository: path in the site} of all pages."""
    found = {f"docs/{path.relative_to(ROOT / 'docs')}": str(path.relative_to(ROOT / "docs"))
             for path in (ROOT / "docs").rglob("*.md")}
    return found | ROOT_PAGES


def staged_line(line, here, site):
    """A line of the page `here` whose links lead to pages and pictures of the site."""

    def staged_link(match):
        picture, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        to = site.get(path, path[len("docs/"):] if picture and path.startswith("docs/") else None)
        if to is not None:
            return f"{picture}[{text}]({posixpath.relpath(to, posixpath.dirname(site[here]) or '.')}{anchor})"
        return text if posixpath.basename(path) in text else f"{text} (`{path}`)"

    return LINK.sub(staged_link, line)


def stage(folder):
    """Copies pages and pictures to `folder`, with links as the site has them."""
    site = pages()
    for here, there in site.items():
        lines, fenced = [], False
        for line in (ROOT / here).read_text(encoding="utf-8").splitlines():
            fenced ^= bool(FENCE.match(line))
            lines.append(line if fenced else staged_line(line, here, site))
        (folder / there).parent.mkdir(parents=True, exist_ok=True)
        (folder / there).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for picture in (ROOT / "docs").rglob("*.png"):
        shutil.copy(picture, folder / picture.relative_to(ROOT / "docs"))


def title(folder, page):
    """The text of a page's first heading."""
    heading = re.search(r"^# (.*)$", (folder / page).read_text(encoding="utf-8"), re.M)
    return heading[1] if heading else page


def navigation(folder):
    """Every page once: the guide, the folders, what is for developers."""
    all_pages = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))
    guide = [f"{name}.md" for name in FIRST if f"{name}.md" in all_pages]
    sections = {name: [page for page in all_pages if page.startswith(f"{path}/")] for name, path in FOLDERS.items()}
    taken = {"index.md", "CHANGELOG.md", *guide, *(page for group in sections.values() for page in group)}
    sections = {"Guide": guide, **sections, "For developers": [page for page in all_pages if page not in taken]}
    named = [{name: [{title(folder, page): page} for page in group]} for name, group in sections.items()]
    return [{"Hyperplane": "index.md"}, *named, {"Changes": "CHANGELOG.md"}]


def build(output):
    """Builds the site; every warning of mkdocs is an error. Returns its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "docs"
        stage(folder)
        config = {
            "site_name": "Hyperplane",
            "site_description": "Preconditioned Krylov solves of PDEs on structured grids, measured and recorded",
            "strict": True,
            "use_directory_urls": False,  # pages can be read from files, without a server
            "theme": {"name": "mkdocs", "highlightjs": False},
            "markdown_extensions": ["tables", "fenced_code", "toc"],
            "nav": navigation(folder),
        }
        (folder.parent / "mkdocs.yml").write_text(json.dumps(config), encoding="utf-8")
        command = ["mkdocs", "build", "--quiet", "--clean", "--site-dir", str(pathlib.Path(output).resolve())]
        return subprocess.run(command, cwd=folder.parent, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("mkdocs") is None:
        sys.exit("docs/site.py needs mkdocs: apt-get install mkdocs")
    sys.exit(build(sys.argv[1]))
