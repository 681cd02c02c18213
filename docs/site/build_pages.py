#!/usr/bin/env python3
"""Makes the folder of Markdown from which MkDocs makes the site.

    build_pages.py --reference BUILD/reference --out FOLDER

README.md is the first page; the pages of docs/ stay where they are among each other. What they link to outside docs/, and each
schema and public header, becomes a page with the file's text, so that every link works without a network and without an address
of the repository. BUILD/reference is what the target fusegate_reference makes (docs/reference). Ends with 2 where a page links to
what is not there. ci/pipelines/site.sh calls it.
"""

import argparse
import pathlib
import posixpath
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = {".cc": "cpp", ".cu": "cuda", ".cuh": "cuda", ".h": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".yml": "yaml",
             ".cmake": "cmake", ".js": "javascript", ".toml": "toml"}
AS_THEY_ARE = {".svg", ".png", ".txt"}  # of docs/: pictures and files for download
# Fenced code, indented code, code in backticks; or a link and its target.
CODE_OR_LINK = re.compile(r"^ *(```+|~~~+).*?^ *\1[`~]*$|^ {4}[^\n]*|(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\2(?!`)"
                          r'|(?P<before>\]\(|(?:src|href)=")(?P<target>[^)\s"]+)', re.MULTILINE | re.DOTALL)


class InputError(Exception):
    """An error in a page, which the message names."""


def links_of(text):
    """What a Markdown page links to, except in code."""
    return [found["target"] for found in CODE_OR_LINK.finditer(text) if found["target"]]


def with_links(text, change):
    """change: from a target to the new one."""
    return CODE_OR_LINK.sub(lambda found: found["before"] + change(found["target"]) if found["target"] else found[0], text)


def for_python_markdown(text):
    """GitHub's Markdown for Python-Markdown: nested lists with four spaces, Markdown in HTML with an attribute."""
    text = re.sub(r"^( {2,3})(?=(?:[-*]|\d+\.) )", "    ", text, flags=re.MULTILINE)
    return text.replace("<details>", '<details markdown="1">')


def source_page(path, text):
    """A file of any other kind, as code."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"# {posixpath.basename(path)}\n\n`{path}`\n\n{fence}{LANGUAGES.get(posixpath.splitext(path)[1], '')}\n{text.rstrip()}\n{fence}\n"


def pages_of(root):
    return sorted(path.relative_to(root).as_posix() for pattern in ("docs/*.md", "docs/evidence/*.md") for path in root.glob(pattern))


class Stage:
    """Pages by their paths in the repository, and what they link to. made: texts of pages without a file, by path."""

    def __init__(self, root, out, made=()):
        self.root, self.out, self.made = root, out, dict(made)
        self.pages = {"README.md": "index.md", **{path: path.removeprefix("docs/") for path in (*pages_of(root), *self.made)}}

    def build(self):
        shutil.rmtree(self.out, ignore_errors=True)
        written = set()
        while waiting := set(self.pages) - written:
            for path in waiting:
                try:
                    self.write(path, self.made[path] if path in self.made else (self.root / path).read_text(encoding="utf-8"))
                except UnicodeDecodeError as error:
                    raise InputError(f"{path}: {error}") from None
            written |= waiting

    def write(self, path, text):
        if path.endswith(".md"):
            text = for_python_markdown(with_links(text, lambda target: self.staged(target, path)))
        else:
            text = source_page(path, text)
        target = self.out / self.pages[path]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def staged(self, target, page):
        """The link on the site for a link of a page in the repository."""
        if re.match(r"[a-z][a-z+.-]*:", target):
            return target
        path, hash_sign, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if path not in self.pages and not (self.root / path).is_file():
            why = "is a folder; link to a file in it" if (self.root / path).is_dir() else "no such file"
            raise InputError(f"{page}: link to {target}: {why}")
        return posixpath.relpath(self.page_of(path), posixpath.dirname(self.pages[page]) or ".") + hash_sign + anchor

    def page_of(self, path):
        if path.startswith("docs/") and posixpath.splitext(path)[1] in AS_THEY_ARE:
            copy = path.removeprefix("docs/")
            (self.out / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, self.out / copy)
            return copy
        # MkDocs leaves out what begins with a dot, such as .github.
        return self.pages.setdefault(path, f"source/{path.removeprefix('.')}" + ("" if path.endswith(".md") else ".md"))


def headers_page(root):
    """Lists the public headers, each with the first sentence of its opening comment."""
    listed = ["# Public headers\n\nWhat a program of yours includes, from the installed package.\n\n| header | what it is |\n| --- | --- |"]
    for path in re.findall(r"^  (\S+\.h)\b", (root / "cmake/Library.cmake").read_text(encoding="utf-8"), re.MULTILINE):
        opening = " ".join(re.match(r"(?:// .*\n)*", (root / path).read_text(encoding="utf-8"))[0].replace("//", "").split())
        listed.append(f"| [fusegate/{posixpath.basename(path)}](../../{path}) | {opening.partition('. ')[0].rstrip('.')}. |")
    return "\n".join(listed) + "\n"


def build_pages(root, reference, out):
    commands = sorted((reference / "markdown").glob("*.md"))
    if not commands:
        raise InputError(f"{reference}: no markdown/*.md; build the target fusegate_reference")
    made = {f"docs/reference/{path.name}": path.read_text(encoding="utf-8") for path in commands}
    stage = Stage(root, out, {**made, "docs/reference/headers.md": headers_page(root)})
    for schema in (root / "docs/schema").glob("*.schema.json"):
        stage.page_of(schema.relative_to(root).as_posix())
    stage.build()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reference", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    flags = parser.parse_args()
    try:
        build_pages(ROOT, flags.reference, flags.out)
    except (InputError, OSError) as error:
        print(f"build_pages.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
