"""A public header as a page: its opening comment, then each declaration below its comment."""

import re

from markdown_text import InputError, fenced

NAMED = re.compile(r"^(?:template\b.*?>\s*)?(?:inline |constexpr |extern |\[\[\w+\]\] |const )*"
                   r"(?:(?P<kind>struct|class|enum class|enum|concept|using) (?P<name>[A-Za-z_]\w*)|(?P<rest>.*))", re.DOTALL)
FUNCTION = re.compile(r"([A-Za-z_~]\w*|operator\S+)\s*\(")
VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:=|\{|;|\[)")


def comment_of(lines):
    """The text of // lines. Indented ones stay code."""
    return "\n".join(re.sub(r"^\s*// ?", "", line) for line in lines).rstrip()


def prose(text):
    """A comment as Markdown: indented lines are code; headings, lists and HTML are escaped."""
    def line(one):
        if one.startswith("  "):
            return "  " + one
        one = re.sub(r"([\\`*_<>|#\[\]])", lambda found: f"&#{ord(found[0])};", one)
        return re.sub(r"^(\s*)([-+]|\d+\.)(?= )", lambda found: found[1] + "".join(f"&#{ord(c)};" for c in found[2]), one)
    made, was_code = [], False
    for one in text.splitlines():
        is_code = one.startswith("  ")
        made += [""] * (is_code and not was_code) + [line(one)]
        was_code = is_code
    return "\n".join(made)


def opening_comment(lines):
    taken = []
    for line in lines:
        if not line.startswith("//"):
            break
        taken.append(line)
    return comment_of(taken), lines[len(taken):]


def body_of(lines):
    """The declarations, including macros."""
    frame = re.compile(r"\s*#\s*(pragma|include)\b|namespace [\w:]+ \{$|\}  // namespace")
    return [line for line in lines if not frame.match(line)]


def pieces_of(lines):
    """Declarations with their comments: separated by empty lines outside of braces and parentheses."""
    piece, depth = [], 0
    for line in lines:
        if not line.strip() and depth == 0:
            if piece:
                yield piece
            piece = []
            continue
        piece.append(line)
        code = re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", line)
        depth += sum(code.count(c) for c in "{(") - sum(code.count(c) for c in "})")
    if piece:
        yield piece


def name_of(code):
    found = NAMED.match(code.strip())
    if found["kind"]:
        return f"{found['kind']} {found['name']}"
    # The earlier of the two: a default value may call something.
    names = [match for match in (FUNCTION.search(found["rest"]), VARIABLE.search(found["rest"])) if match]
    return min(names, key=lambda match: match.start(1))[1] if names else ""


def header_page(path, text, include):
    """path: in the repository. include: as other projects write it."""
    summary, rest = opening_comment(text.splitlines())
    if not summary:
        raise InputError(f"{path}: must open with a comment")
    pieces = list(pieces_of(body_of(rest)))
    if not pieces:
        raise InputError(f"{path}: has no declaration")
    page = [f"# {include}\n", f"    #include <{include}>\n", prose(summary), ""]
    seen = set()
    for piece in pieces:
        first = next((number for number, line in enumerate(piece) if not line.strip().startswith("//")), len(piece))
        code = "\n".join(piece[first:])
        name = name_of(code) if code else ""
        if name and name not in seen:
            page.append(f"## {name}\n")
            seen.add(name)
        if first:
            page += [prose(comment_of(piece[:first])), ""]
        if code:
            page.append(fenced(code, "cpp"))
    return "\n".join(page).rstrip() + "\n"


def public_headers(cmake_text, source):
    """The paths in the lists FUSEGATE_PUBLIC_HEADERS and FUSEGATE_PUBLIC_CUDA_HEADERS."""
    paths = [path for words in re.findall(r"^set\(FUSEGATE_PUBLIC(?:_CUDA)?_HEADERS\s([^)]*)\)", cmake_text, re.MULTILINE)
             for path in words.split()]
    if not paths:
        raise InputError(f"{source}: no FUSEGATE_PUBLIC_HEADERS")
    return paths
