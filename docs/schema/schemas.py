"""The schemas of this folder, by their short names, and which parts of them a document used."""

import json
import pathlib

import jsonschema
import referencing

FOLDER = pathlib.Path(__file__).parent
SUFFIX = ".schema.json"


def read_schemas():
    return {path.name.removesuffix(SUFFIX): json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(FOLDER.glob("*" + SUFFIX))}


class Schemas:
    """Checks documents. `used` gathers the properties that any of them had."""

    def __init__(self):
        self.schemas = read_schemas()
        self.used = set()
        self._registry = referencing.Registry().with_resources(
            (name + SUFFIX, referencing.Resource.from_contents(schema)) for name, schema in self.schemas.items())
        base = jsonschema.Draft202012Validator
        self._class = jsonschema.validators.extend(base, {"properties": self._properties(base.VALIDATORS["properties"])})

    def _properties(self, check):
        def recording(validator, properties, instance, schema):
            if isinstance(instance, dict):
                self.used |= {(id(properties), name) for name in properties if name in instance}
            yield from check(validator, properties, instance, schema)
        return recording

    def errors(self, name, document):
        """One line each: where in the document, and what is wrong."""
        validator = self._class(self.schemas[name], registry=self._registry)
        return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]

    def properties(self):
        """Every property of every schema: its path for people, and what `used` has where a document had it."""
        for name, schema in self.schemas.items():
            yield from properties_in(schema, name)


def properties_in(node, path):
    if isinstance(node, list):
        for element in node:
            yield from properties_in(element, path)
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":
                for name, member in value.items():
                    yield f"{path}.{name}", (id(value), name)
                    yield from properties_in(member, f"{path}.{name}")
            elif key == "$defs":
                for name, member in value.items():
                    yield from properties_in(member, f"{path}#{name}")
            else:
                yield from properties_in(value, path)
