"""Collects the site's pages in a folder for MkDocs.

The pages of docs/ stay where they are among each other; README.md is the first page.
What they link to outside docs/ becomes a page too: a source file with its text, so that every link works without a network
and without an address of the repository. Reference pages come from the programs, the schemas and the headers.
"""

import pathlib
import posixpath
import shutil

from markdown_links import is_elsewhere, path_of, with_links
from markdown_text import InputError, fenced, for_python_markdown

LANGUAGES = {".cc": "cpp", ".cu": "cuda", ".cuh": "cuda", ".h": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".yml": "yaml",
             ".cmake": "cmake", ".js": "javascript", ".toml": "toml"}
AS_THEY_ARE = {".svg", ".png", ".txt", ".json"}  # of docs/: pictures and files for download


def pages_of(root):
    """The pages of docs/ and docs/evidence/, relative to docs/."""
    docs = pathlib.Path(root) / "docs"
    return sorted(path.relative_to(docs).as_posix() for pattern in ("*.md", "evidence/*.md") for path in docs.glob(pattern))


class Stage:
    def __init__(self, root, out):
        self.root, self.out = pathlib.Path(root), pathlib.Path(out)
        self.pages = {"README.md": "index.md"}
        for path in pages_of(self.root):
            self.pages[f"docs/{path}"] = path
        self.waiting = list(self.pages)

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        while self.waiting:
            path = self.waiting.pop()
            self.write(self.pages[path], self.text_of(path))

    def write(self, page, text):
        target = self.out / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def text_of(self, path):
        """path: in the tree."""
        try:
            text = (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: {error}") from None
        if path.endswith(".md"):
            return for_python_markdown(with_links(text, lambda target: self.staged(target, path)))
        return f"# {posixpath.basename(path)}\n\n`{path}`\n\n" + fenced(text, LANGUAGES.get(posixpath.splitext(path)[1], ""))

    def staged(self, target, page):
        """The link on the site for a link of a page in the repository."""
        if is_elsewhere(target):
            return target
        path, anchor = path_of(target, page)
        if not (self.root / path).exists():
            raise InputError(f"{page}: link to {target}: no such file")
        there = posixpath.relpath(self.path_on_site(path, page), posixpath.dirname(self.pages[page]) or ".")
        return there + ("#" + anchor if anchor else "")

    def path_on_site(self, path, page):
        if path in self.pages:
            return self.pages[path]
        if (self.root / path).is_dir():
            raise InputError(f"{page}: link to {path}: is a folder; link to a file in it")
        if path.startswith("docs/") and posixpath.splitext(path)[1] in AS_THEY_ARE:
            copy = path.removeprefix("docs/")
            (self.out / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, self.out / copy)
            return copy
        # MkDocs leaves out what begins with a dot, such as .github.
        self.pages[path] = f"source/{path.removeprefix('.')}" + ("" if path.endswith(".md") else ".md")
        self.waiting.append(path)
        return self.pages[path]
