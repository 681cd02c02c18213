"""Holds the code against the tables of docs/architecture.md, and the links of README.md and docs/ against the tree.

Found are: an include between rooms that the table does not allow, an arrow of the table that no include uses,
a room that includes one of a row below its own, a circle of modules (a header with its source), a room with too
many or too few files, a folder with sources that the table does not name, a room without a CMakeLists.txt that
opens with a comment, a link between rooms that the table does not allow, an arrow of the table without a link, a namespace that is not the library's, and a link or path in the docs that leads nowhere.
"""

import collections
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = "docs/architecture.md"
SMALLEST, LARGEST = 5, 40
COMPILED = {".h", ".cc", ".cu", ".cuh"}
SOURCES = COMPILED | {".py"}
NO_SOURCES = {"build", "__pycache__", "testdata"}


def folder_of(path):
    return path.rpartition("/")[0]


def module_of(path):
    """A header with its source: the path without its extension."""
    return path.rpartition(".")[0]


class Tree:
    """The files under root by path, as git names them, and what the compiled ones include of each other."""

    def __init__(self, root):
        self.root = root
        self.files = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if self._counts(path)]
        self.libraries = {path.partition("/")[0] for path in self.files if "/" in path}
        self.includes = [(path, line, target) for path in self.files if pathlib.Path(path).suffix in COMPILED
                         for line, target in self._includes_of(path)]

    def _counts(self, path):
        parts = path.relative_to(self.root).parts
        return path.is_file() and not any(part.startswith(".") or part in NO_SOURCES for part in parts)

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def _includes_of(self, path):
        for number, line in enumerate(self.text(path).splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if found and (found[1] == '"' or found[2].partition("/")[0] in self.libraries):
                yield number, found[2]

    def folders_with_sources(self):
        return sorted({folder_of(path) for path in self.files if pathlib.Path(path).suffix in SOURCES} - {""})


def rows_below(document, heading):
    """The cells of the table below the heading, without its two first rows, backticks taken off."""
    _, _, text = document.partition(f"\n## {heading}\n")
    lines = text.partition("\n## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    if len(table) < 3:
        raise ValueError(f"{DOCUMENT}: no table under the heading '{heading}'")
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in table[2:]]


def rooms_in(cell):
    """'baselines: io, record; ci: console' names baselines/io, baselines/record and ci/console."""
    for group in filter(None, (group.strip() for group in cell.split(";"))):
        library, _, names = group.partition(":")
        yield from (f"{library.strip()}/{name.strip()}" for name in names.split(","))


class Drawing:
    """What docs/architecture.md says: which room may include which, from the ground up, and odd sizes."""

    def __init__(self, document):
        self.may_include = {row[0]: set(rooms_in(row[2])) for row in rows_below(document, "Who may include whom")}
        self.order = {room: index for index, room in enumerate(self.may_include)}
        self.sizes = {row[0]: tuple(map(int, row[1].split(" to "))) for row in rows_below(document, "Rooms of another size")}


def include_findings(tree, drawing):
    used = collections.defaultdict(list)
    for path, line, target in tree.includes:
        if folder_of(target) != folder_of(path):
            used[folder_of(path), folder_of(target)].append(f"{path}:{line}")
    for (room, other), lines in sorted(used.items()):
        if other not in drawing.may_include.get(room, ()):
            yield f"{room} includes {other}", f"{lines[0]}; the table does not allow it"
    for room, others in drawing.may_include.items():
        for other in sorted(others):
            if other not in drawing.may_include:
                yield f"{room} may include {other}", "which is not a room of the table"
            elif drawing.order[other] >= drawing.order[room]:
                yield f"{room} may include {other}", "which stands below it in the table"
            if (room, other) not in used:
                yield f"{room} may include {other}", "and no include does so any more: take it out of the table"


class Links:
    """The targets that CMakeLists.txt files name, as links between the folders that make them."""

    COMMAND = re.compile(r"^ *(fusegate_room|fusegate_test|add_library|add_executable|target_link_libraries|set)\(([^()]*)\)",
                         re.MULTILINE)

    def __init__(self, tree):
        commands = [(folder_of(path), name, re.findall(r"\w+", arguments)) for path in tree.files
                    if path.endswith("/CMakeLists.txt")
                    for name, arguments in self.COMMAND.findall(re.sub(r"#.*", "", tree.text(path)))]
        self.made_in = {words[0]: folder for folder, name, words in commands
                        if name not in {"target_link_libraries", "set"}}
        self.folders = set(self.made_in.values())
        self.direct, self.passed_on = collections.defaultdict(set), collections.defaultdict(set)
        for folder, _, (target, *words) in commands:
            folder, is_passed_on = self.made_in.get(target, folder), False
            for word in words:
                if word in {"PUBLIC", "INTERFACE", "PRIVATE"}:
                    is_passed_on = word != "PRIVATE"
                elif self.made_in.get(word, folder) != folder:
                    self.direct[folder].add(self.made_in[word])
                    if is_passed_on:
                        self.passed_on[folder].add(self.made_in[word])

    def reached_from(self, folder):
        reached, waiting = set(), list(self.direct[folder])
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting.extend(self.passed_on[other])
        return reached


def target_findings(tree, drawing):
    links = Links(tree)
    for room, others in drawing.may_include.items():
        for other in sorted(links.direct[room] & set(drawing.may_include) - others):
            yield f"{room} links {other}", "the table does not allow it"
        # Headers alone may have no target that could be linked.
        for other in sorted((others & links.folders) - links.reached_from(room)):
            if room in links.folders:
                yield f"{room} does not link {other}", "though it includes its headers"


def circles(edges):
    """The sets of nodes that reach each other, of a dictionary from node to nodes (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            together = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(together) > 1:
                found.append(sorted(together))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def circle_findings(tree):
    edges = collections.defaultdict(set)
    for path, _, target in tree.includes:
        if module_of(target) != module_of(path):
            edges[module_of(path)].add(module_of(target))
    for modules in circles(edges):
        yield f"circle of {', '.join(modules)}", "they include each other"


def room_findings(tree, drawing):
    folders = tree.folders_with_sources()
    for folder in folders:
        if folder not in drawing.may_include:
            yield f"{folder}: not in the table", "every folder with sources is a room and has a row"
    for room in drawing.may_include:
        files = [path for path in tree.files if folder_of(path) == room and not path.endswith("/CMakeLists.txt")]
        smallest, largest = drawing.sizes.get(room, (SMALLEST, LARGEST))
        if not smallest <= len(files) <= largest:
            yield f"{room}: {len(files)} files", f"a room has {smallest} to {largest}"
        if f"{room}/CMakeLists.txt" not in tree.files:
            yield f"{room}: no CMakeLists.txt", "every room has one"
        elif not tree.text(f"{room}/CMakeLists.txt").startswith("# "):
            yield f"{room}: CMakeLists.txt says nothing", "it opens with a comment: what the room is for"
    for room, (smallest, largest) in drawing.sizes.items():
        if room not in drawing.may_include or (smallest >= SMALLEST and largest <= LARGEST):
            yield f"{room}: size", "no exception from the rule: take it out of the table"


def namespace_findings(tree):
    for path in tree.files:
        library = path.partition("/")[0]
        if pathlib.Path(path).suffix in COMPILED and library != "tests":  # a rig has the namespace of what it replaces
            for name in re.findall(r"^namespace fusegate\b(?:::)?(\w*)", tree.text(path), re.MULTILINE):
                if name != library:
                    yield f"{path}: namespace fusegate::{name}", f"its library's is fusegate::{library}"


def types_of(text):
    """The types that it defines for the whole library: not in a namespace without a name, nor within a type."""
    own = re.sub(r"^namespace \{$.*?^\}  // namespace$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(?:struct|class) (\w+)(?: final)?(?: :[^;{]*)? \{", own, re.MULTILINE)


def type_findings(tree):
    """Two types of one name are one to the linker, which takes the members of either: no compiler and no linker says so."""
    seen = {}
    for path in tree.files:
        library = path.partition("/")[0]
        if pathlib.Path(path).suffix not in COMPILED or library == "tests":
            continue
        text = tree.text(path)
        namespace = re.findall(r"^namespace ([\w:]+)", text, re.MULTILINE)[:1]
        for name in types_of(text):
            first = seen.setdefault((*namespace, name), path)
            if first != path:
                yield f"{path}: type {name}", f"{first} defines another one of this name"


def findings(tree, drawing):
    """Pairs of what is wrong and why."""
    yield from include_findings(tree, drawing)
    yield from circle_findings(tree)
    yield from room_findings(tree, drawing)
    yield from target_findings(tree, drawing)
    yield from namespace_findings(tree)
    yield from type_findings(tree)


def anchors_of(text):
    """The headings of a page as GitHub makes anchors of them, repeated ones numbered."""
    counts = collections.Counter()
    for heading in re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        yield anchor if not counts[anchor] else f"{anchor}-{counts[anchor]}"
        counts[anchor] += 1


def without_code(text):
    fenced = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^(?: {4}).*$", "", fenced, flags=re.MULTILINE)


def link_findings(tree, pages):
    """Links that lead nowhere, and paths of the tree in backticks that are not there."""
    for page in pages:
        text = without_code(tree.text(page))
        for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", text):
            target, _, anchor = "".join(link).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = (tree.root / page).parent / target if target else tree.root / page
            if not path.exists():
                yield f"{page}: link to {target}", "is not there"
            elif anchor and anchor not in anchors_of(path.read_text(encoding="utf-8")):
                yield f"{page}: link to {target}#{anchor}", "has no such heading"
        folders = "|".join([*sorted(tree.libraries), r"\.github", r"\.ci"])
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
            if not (tree.root / path).exists():
                yield f"{page}: {path}", "is not there"


class Project(unittest.TestCase):
    """The project as it is."""

    def test_code_is_as_drawn(self):
        tree = Tree(ROOT)
        found = findings(tree, Drawing(tree.text(DOCUMENT)))
        self.fail_with(f"{what}: {why} (see {DOCUMENT})" for what, why in found)

    def test_links_lead_somewhere(self):
        tree = Tree(ROOT)
        pages = [path.relative_to(ROOT).as_posix() for top in sorted(tree.libraries) for path in sorted((ROOT / top).rglob("*.md"))
                 if "build" not in path.parts]
        pages += [path for path in tree.files if path.endswith(".md") and "/" not in path]
        self.assertGreater(len(pages), 25)
        self.fail_with(f"{what}: {why}" for what, why in link_findings(tree, pages))

    def test_stages_expect_the_kernels_of_our_products(self):
        [own] = re.findall(r'kOwnGemm\[\] =\s*"(.*)";', (ROOT / "kernels/cuda/implementations/expected_stages.cc").read_text())
        sources = [path for room in ("gemm", "few_rows") for path in sorted((ROOT / "kernels/cuda" / room).rglob("*.cuh"))]
        kernels = [name for path in sources for name in re.findall(r"__global__[^;{]*?\s(\w+_kernel)\(", path.read_text())]
        self.assertGreater(len(kernels), 8)
        self.fail_with(f"{name}: no stage expects it" for name in kernels if not re.search(own, f"void fusegate::kernels::{name}<"))

    def fail_with(self, sentences):
        wrong = "\n".join(sentences)
        if wrong:
            self.fail("\n" + wrong)


DRAWN = """# A house

## Who may include whom

| room | inside | may include |
| --- | --- | --- |
| `ground/io` | files | |
| `ground/runs` | runs | ground: io |
| `top/gate` | verdicts | `ground`: io, runs |

## Rooms of another size

| room | files | why |
| --- | --- | --- |
| `top/gate` | 3 to 3 | small |
"""


# What is planted into a house of three rooms that is in order: files by path, what is replaced in DRAWN, and what is found.
PLANTED = {
    "nothing": ({}, (), []),
    "an include that the table does not have": (
        {"ground/io/file2.h": '  #  include "ground/runs/file4.h"  // up\n'}, (), ["ground/io includes ground/runs"]),
    "an include in angle brackets, in a test": (
        {"ground/runs/file1_test.cc": "#include <top/gate/file1.h>\n"}, (), ["ground/runs includes top/gate"]),
    "an include that does not start at the root": ({"ground/io/file2.h": '#include "file3.h"\n'}, (), ["ground/io includes "]),
    "an arrow that nothing uses": ({"ground/runs/file0.h": ""}, (), ["ground/runs may include ground/io"]),
    "an arrow that points down the table": (
        {"ground/io/file2.h": '#include "ground/runs/file4.h"\n'}, ("files | |", "files | ground: runs |"),
        ["ground/io may include ground/runs"]),
    "an arrow to a room that is not there": (
        {}, ("| ground: io |", "| ground: io, cellar |"), ["ground/runs may include ground/cellar"] * 2),
    "a circle of modules through their sources": (
        {"ground/io/file2.cc": '#include "ground/io/file2.h"\n#include "ground/io/file3.h"\n',
         "ground/io/file3.h": '#include "ground/io/file4.h"\n', "ground/io/file4.cc": '#include "ground/io/file2.h"\n'}, (),
        ["circle of ground/io/file2, ground/io/file3, ground/io/file4"]),
    "no circle: two ways to one module": (
        {"ground/io/file2.h": '#include "ground/io/file3.h"\n#include "ground/io/file4.h"\n',
         "ground/io/file3.h": '#include "ground/io/file4.h"\n'}, (), []),
    "rooms that are too large or too small": (
        {**{f"ground/io/file{number}.h": "" for number in range(41)}, "top/gate/file3.h": "", "ground/runs/file4.h": None}, (),
        ["ground/io: 41 files", "ground/runs: 4 files", "top/gate: 4 files"]),
    "an exception that is none": ({}, ("3 to 3", "5 to 40"), ["top/gate: 3 files", "top/gate: size"]),
    "a folder that the table does not name": ({"top/attic/junk.py": ""}, (), ["top/attic: not in the table"]),
    "rooms without a word on what they are for": (
        {"ground/io/CMakeLists.txt": None, "top/gate/CMakeLists.txt": "add_library(gate)\n"}, (),
        ["ground/io: no CMakeLists.txt", "top/gate: CMakeLists.txt says nothing"]),
    "a type of a name that another room has": (
        {"ground/io/file2.h": "namespace fusegate::ground {\nstruct Box {\n};\n}\n",
         "ground/runs/file2.h": "namespace fusegate::ground {\nclass Box final : public Thing {\n};\nnamespace {\nstruct Own {\n};\n}  // namespace\n}\n",
         "ground/runs/file3.h": "namespace fusegate::ground {\nclass Box;\nnamespace {\nstruct Own {\n};\n}  // namespace\n}\n",
         "top/gate/file2.h": "namespace fusegate::top {\nstruct Box {\n};\n}\n"}, (),
        ["ground/runs/file2.h: type Box"]),
    "a namespace of another library": (
        {"ground/io/file2.h": "namespace fusegate::top {}\n", "ground/io/file3.h": "namespace fusegate {}\n"}, (),
        ["ground/io/file2.h: namespace fusegate::top", "ground/io/file3.h: namespace fusegate::"]),
}


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for room, count in {"ground/io": 5, "ground/runs": 5, "top/gate": 3}.items():
            self.write(f"{room}/CMakeLists.txt", "# What it is for.\n")
            for number in range(count):
                self.write(f"{room}/file{number}.h", f"namespace fusegate::{room.partition('/')[0]} {{}}\n")
        self.write("ground/runs/file0.h", '#include "ground/io/file0.h"\n#include <vector>\n')
        self.write("top/gate/file0.h", '#include "ground/io/file1.h"\n#include "ground/runs/file0.h"\n')

    def write(self, path, text):
        """text: None removes the file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (self.root / path).unlink()
        else:
            (self.root / path).write_text(text)

    def found(self, drawn=DRAWN):
        return [what for what, _ in findings(Tree(self.root), Drawing(drawn))]

    def test_is_found(self):
        for name, (files, replaced, expected) in PLANTED.items():
            with self.subTest(name):
                self.setUp()
                for path, text in files.items():
                    self.write(path, text)
                self.assertEqual(self.found(DRAWN.replace(*replaced) if replaced else DRAWN), expected)

    def with_targets(self, runs, gate):
        self.write("ground/io/CMakeLists.txt", "# Files.\nfusegate_room(ground_io SOURCES file0.cc)\n")
        self.write("ground/runs/CMakeLists.txt", f"# Runs.\nfusegate_room(ground_runs JSON\n  SOURCES file0.cc\n  {runs})\n")
        self.write("top/gate/CMakeLists.txt", f"# Verdicts.\nadd_executable(gate main.cc)\n{gate}\n")
        return self.found()

    def test_links_as_drawn_one_of_them_passed_on(self):
        self.assertEqual(self.with_targets("PUBLIC ground_io", "target_link_libraries(gate PRIVATE ground_runs)"), [])

    def test_an_arrow_without_a_link(self):
        missing = ["top/gate does not link ground/io", "top/gate does not link ground/runs"]
        self.assertEqual(self.with_targets("PUBLIC ground_io", "# target_link_libraries(gate PRIVATE ground_runs)"), missing)
        self.assertEqual(self.with_targets("PRIVATE ground_io", "target_link_libraries(gate PRIVATE ground_runs)"), missing[:1])

    def test_a_link_that_the_table_does_not_have(self):
        self.assertEqual(self.with_targets("PUBLIC ground_io", "fusegate_test(test SOURCES a.cc LIBRARIES ground_runs)\n"
                                           "target_link_libraries(ground_io PRIVATE ground_runs)"),
                         ["ground/io links ground/runs"])

    def test_links_that_lead_nowhere(self):
        self.write("docs/page.md", "# One: `two`\n[a](other.md) [b](#one-two) [c](#three) [d](../ground/io)\n"
                                   "[e](https://example.org/x) `ground/io/file0.h` `ground/io/gone.h` `.github/gone.yml`\n\n    [f](code.md)\n")
        tree = Tree(self.root)
        self.assertEqual([what for what, _ in link_findings(tree, ["docs/page.md"])],
                         ["docs/page.md: link to other.md", "docs/page.md: link to #three", "docs/page.md: ground/io/gone.h",
                          "docs/page.md: .github/gone.yml"])

    def test_a_page_without_the_table(self):
        with self.assertRaisesRegex(ValueError, "Who may include whom"):
            Drawing("# Nothing\n")
