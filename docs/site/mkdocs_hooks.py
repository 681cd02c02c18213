"""What MkDocs asks of us: anchors of headings as GitHub makes them, since the pages are read there too."""

import re


def slugify(text, separator):
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config
