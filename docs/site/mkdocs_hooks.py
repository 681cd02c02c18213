"""Hooks for MkDocs: anchors of headings as on GitHub, where the pages are read too."""

import re


def slugify(text, separator):
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config
