"""A JSON Schema of docs/schema as a page: a table for each object, with one row for each key."""

from markdown_text import InputError

SUFFIX = ".schema.json"


def cell(text):
    """Text in a table, with Markdown and HTML escaped."""
    for character in "\\|<*_":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def link_of(reference):
    file, _, name = reference.partition("#/$defs/")
    if not name:
        raise InputError(f"$ref {reference}: is not a definition")
    return f"[{name}]({file.removesuffix(SUFFIX) + '.md' if file else ''}#{name.lower()})"


def limits_of(node):
    words = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}", "exclusiveMaximum": "below {}",
             "minItems": "at least {}", "maxItems": "at most {}", "minLength": "at least {} characters"}
    if node.get("minLength") == 1:
        words = {**words, "minLength": "not empty"}
    text = ", ".join(word.format(node[key]) for key, word in words.items() if key in node)
    return text.replace(", to ", " to ").replace(", below ", " and below ")


def type_of(node):
    if "$ref" in node:
        return link_of(node["$ref"])
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    if "oneOf" in node:
        return " or ".join(type_of(one) for one in node["oneOf"])
    kind = node.get("type", "any")
    text = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array" and "items" in node:
        text = "array of " + type_of(node["items"])
    limits = limits_of(node)
    return f"{text}, {limits}" if limits else text


def inner_objects(node):
    """Pairs of a suffix of the key's path and the object there."""
    if "properties" in node or isinstance(node.get("additionalProperties"), dict):
        yield "", node
    if "items" in node:
        yield from (("[]" + path, inner) for path, inner in inner_objects(node["items"]))
    for one in node.get("oneOf", ()):
        yield from inner_objects(one)


def rows_of(node, path=""):
    required = node.get("required", ())
    members = dict(node.get("properties", {}))
    if isinstance(node.get("additionalProperties"), dict):
        members["(any other)" if members else "(any)"] = node["additionalProperties"]
    for name, member in members.items():
        here = f"{path}.{name}".lstrip(".")
        yield f"| `{here}` | {type_of(member)} | {'yes' if name in required else ''} | {cell(member.get('description', ''))} |"
        for more, inner in inner_objects(member):
            yield from rows_of(inner, here + more)


def section(node):
    rows = [row for path, inner in inner_objects(node) for row in rows_of(inner, path.lstrip("."))]
    if not rows:
        yield f"\n{type_of(node)}\n"
        return
    yield "\n| key | type | always | what it is |\n| --- | --- | --- | --- |"
    yield from rows


def schema_page(name, schema):
    text = [f"# {schema['title']}\n\n{cell(schema['description'])}\n",
            f"The schema: [{name}{SUFFIX}](../schema/{name}{SUFFIX}). [Files](../files.md) says what is done with it."]
    if "properties" in schema:
        text += section(schema)
    for key, definition in schema.get("$defs", {}).items():
        text += [f"\n## {key}", *([f"\n{cell(definition['description'])}"] if "description" in definition else []), *section(definition)]
    return "\n".join(text) + "\n"
