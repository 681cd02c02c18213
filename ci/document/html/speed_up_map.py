"""Speed-ups as tables of coloured cells, one an implementation: M or another axis downwards, shapes to the right. Text of
the page's own size, whatever its width, and one scale of colours for all maps of all pages."""

# Speed-ups above 1 at which the colour changes. Below 1 their inverses.
STEPS = (1.02, 1.1, 1.25, 1.6)
# As many shapes stand side by side: they fit a narrow page.
MOST_COLUMNS = 6

# From much slower to much faster, for a light page and for a dark one: colour and ink.
LIGHT = (("#b2182b", "#ffffff"), ("#d6604d", "#000000"), ("#f4a582", "#000000"), ("#fddbc7", "#000000"),
         ("#f0f1f3", "#000000"),
         ("#d1e5f0", "#000000"), ("#92c5de", "#000000"), ("#4393c3", "#000000"), ("#2166ac", "#ffffff"))
DARK = (("#f0705f", "#000000"), ("#b5443a", "#ffffff"), ("#83352f", "#ffffff"), ("#553030", "#ffffff"),
        ("#343a42", "#ffffff"),
        ("#29415a", "#ffffff"), ("#285780", "#ffffff"), ("#2f70ab", "#ffffff"), ("#62a8e8", "#000000"))
EVEN = len(STEPS)


def step_of(speed_up):
    """Which colour: EVEN where it is as good as 1."""
    steps = sum(max(speed_up, 1 / speed_up) >= bound for bound in STEPS)
    return EVEN + steps if speed_up > 1 else EVEN - steps


def scale():
    """Colours and what they stand for, for a legend."""
    bounds = [1 / bound for bound in reversed(STEPS)] + list(STEPS)
    texts = [f"{low:.2f} to {high:.2f}" for low, high in zip(bounds, bounds[1:])]
    return list(enumerate([f"below {bounds[0]:.2f}", *texts, f"above {bounds[-1]:.2f}"]))


def maps_of(picture):
    """Each with its title and as many tables as its shapes take: their shapes, and rows of cells, None for gaps."""
    return [{"title": one["title"], "tables": list(_tables(one, picture["rows"]))} for one in picture["maps"]]


def _tables(one, sizes):
    """sizes: along the axis that goes downwards."""
    cells = {(tuple(cell["shape"]), cell["rows"]): {"text": cell["text"], "step": step_of(cell["value"])}
             for cell in one["cells"]}
    shapes = sorted({shape for shape, _ in cells})
    for i in range(0, len(shapes), MOST_COLUMNS):
        part = shapes[i:i + MOST_COLUMNS]
        rows = [(size, [cells.get((shape, size)) for shape in part]) for size in sizes]
        yield {"shapes": part, "rows": [row for row in rows if any(row[1])]}
