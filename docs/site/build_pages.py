#!/usr/bin/env python3
"""Makes the folder of Markdown from which MkDocs makes the site.

    build_pages.py --reference BUILD/reference --out FOLDER

BUILD/reference is what the target fusegate_reference makes (docs/reference). Ends with 2 where a page links to what is
not there, or a schema or a header cannot be shown. ci/pipelines/site.sh calls it.
"""

import argparse
import json
import pathlib
import sys

from header_page import header_page, public_headers
from markdown_text import InputError
from schema_page import SUFFIX, schema_page
from stage import Stage

ROOT = pathlib.Path(__file__).resolve().parents[2]


def command_pages(reference):
    pages = {path.name: path.read_text(encoding="utf-8") for path in sorted((pathlib.Path(reference) / "markdown").glob("*.md"))}
    if not pages:
        raise InputError(f"{reference}: no markdown/*.md; build the target fusegate_reference")
    return pages


def schema_pages(root):
    for path in sorted((root / "docs" / "schema").glob("*" + SUFFIX)):
        name = path.name.removesuffix(SUFFIX)
        yield f"{name}.md", schema_page(name, json.loads(path.read_text(encoding="utf-8")))


def header_pages(root):
    """Writes a page for each public header, and one that lists them."""
    source = "cmake/Library.cmake"
    listed = ["# Public headers\n\nWhat a program of yours includes, from the installed package. Each page is made of the header's own "
              "comments.\n\n| header | what it is |\n| --- | --- |"]
    for path in public_headers((root / source).read_text(encoding="utf-8"), source):
        name = pathlib.Path(path).stem
        page = header_page(path, (root / path).read_text(encoding="utf-8"), f"fusegate/{name}.h")
        yield f"headers/{name}.md", page
        listed.append(f"| [fusegate/{name}.h](headers/{name}.md) | {summary_of(page)} |")
    yield "headers.md", "\n".join(listed) + "\n"


def summary_of(page):
    """The first sentence of the header's opening comment, which follows the title and the #include."""
    opening = page.split("\n\n")[2].replace("\n", " ")
    return opening.partition(". ")[0].rstrip(".") + "."


def build_pages(root, reference, out):
    stage = Stage(root, out)
    stage.build()
    for name, text in {**command_pages(reference), **dict(schema_pages(root)), **dict(header_pages(root))}.items():
        stage.write(f"reference/{name}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reference", required=True)
    parser.add_argument("--out", required=True)
    flags = parser.parse_args()
    try:
        build_pages(ROOT, flags.reference, flags.out)
    except (InputError, OSError) as error:
        print(f"build_pages.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
