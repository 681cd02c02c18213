"""For the tests: a document as fusegate writes it, and leaving them where packages are missing."""

import importlib.util
import sys

import settings_folder  # noqa: F401 (before matplotlib)

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def require_packages():
    missing = [name for name in ("matplotlib", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {' and '.join(missing)}; pip install -r ci/requirements.txt")
        sys.exit(SKIPPED)


def cell(text, tone=""):
    return {"text": text, "tone": tone}


def table(headers=(), rows=(), code=(), numbers=(), remarks=()):
    """Cells are texts or of cell()."""
    columns = [{"header": header, "is_number": header in numbers, "is_code": header in code, "is_remark": header in remarks}
               for header in headers]
    return {"columns": columns,
            "rows": [[one if isinstance(one, dict) else cell(one) for one in row] for row in rows]}


def section(title="A section", sentences=(), notes=(), rows=None, pictures=(), parts=(), is_folded=False, open_rows=20):
    return {"title": title, "sentences": list(sentences), "notes": [cell(note) for note in notes],
            "table": rows or table(), "open_rows": open_rows, "pictures": list(pictures), "parts": list(parts), "is_folded": is_folded}


def document(*sections, outcome="pass", facts=()):
    return {"title": "A title", "outcome": outcome, "headline": "A headline.", "summary": "1 unchanged",
            "facts": [{"label": label, "text": cell(text)} for label, text in facts], "sections": list(sections)}


def line(name, points=((128, 1.0), (8192, 2.0)), style=0, marks=()):
    return {"name": name, "style": style, "points": [list(point) for point in points],
            "marks": [{"rows": rows, "text": f"M {rows:.0f}"} for rows in marks]}


def lines(*lines_of_panel, titles=("dim 768, hidden 3072",), even=None, **more):
    return {"kind": "lines", "label": "time, us", "caption": "A caption.", "description": "geglu in bf16.",
            "panels": [{"title": title, "lines": list(lines_of_panel)} for title in titles], "even": even,
            "is_log": False, "is_from_zero": False, "is_high": False, "axis": "M", **more}


def speed_up_map(values=((128, 1.5), (8192, 0.9)), title="fused", shapes=((768, 3072),)):
    return {"kind": "map", "caption": "A map.", "description": "geglu in bf16 as a map.",
            "axis": "M", "shape_axes": "dim above hidden", "rows": [rows for rows, _ in values],
            "maps": [{"title": title, "cells": [
                {"shape": list(shape), "rows": rows, "value": value, "text": f"{value:.2f}"}
                for shape in shapes for rows, value in values]}]}


def roof(value, text):
    return {"value": value, "text": text}


def point(x, y, operation="geglu", of_class="memory-bound", is_hollow=False, tooltip="a tooltip"):
    return {"x": x, "y": y, "operation": operation, "class": of_class, "is_hollow": is_hollow, "tooltip": tooltip}


def roofline(*points, gemm=700, copy=4000):
    return {"kind": "roofline", "caption": "A roofline.", "description": "geglu under its roofs.",
            "hollow": "hollow: launch-bound on a stream", "points": list(points),
            "gemm": roof(gemm, "GEMM rate, 700 TFLOP/s") if gemm else None,
            "copy": roof(copy, "copy rate, 4000 GB/s") if copy else None}


def bar(name, **shares):
    return {"name": name, "parts": [
        {"stage": stage, "share": share, "text": f"{share * 100:.1f} %", "is_gap": stage == "gaps"}
        for stage, share in shares.items()]}


def bars(*all_bars):
    return {"kind": "bars", "bars": list(all_bars)}
