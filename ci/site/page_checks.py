"""Expressions that the browser answers of a page, for the tests of all pages; and where screenshots go."""

import pathlib

SCREENSHOTS = pathlib.Path(__file__).parents[2] / "build" / "screenshots"


def keep_screenshot(browser, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"{name}.png").write_bytes(browser.screenshot())


IS_SEEN = """const seen = (selector) => [...document.querySelectorAll(selector)].filter(
    one => one.checkVisibility() && !one.closest("caption:not(.map caption), .unseen")
           && getComputedStyle(one.closest("thead") ?? one).position != "absolute");"""
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = !one.matches('.rest'))"
ROWS = f"(() => {{ {IS_SEEN} return seen('tbody > tr').map(row => [row.getBoundingClientRect().height, row.textContent]) }})()"
STICKING_OUT = f"""(() => {{ {IS_SEEN} return seen("body *").filter(
    one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map(one => one.outerHTML) }})()"""
SCROLLERS = f"""(() => {{ {IS_SEEN} return seen("body *").filter(
    one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0
           && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)).map(one => one.outerHTML) }})()"""
TEXT_SIZES = """[...document.querySelectorAll("svg text, .map td, .map th")].filter(one => one.checkVisibility()).map(one => {
    const scale = one.getScreenCTM ? Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) : 1;
    return parseFloat(getComputedStyle(one).fontSize) * scale })"""
# Of each text outside of pictures with what lies behind it: WCAG 2.1, 1.4.3.
CONTRASTS = f"""(() => {{ {IS_SEEN}
    const channels = colour => colour.match(/[0-9.]+/g).map(Number);
    const luminance = colour => channels(colour).slice(0, 3).map(value => value / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = one => {{
        for (; one; one = one.parentElement) {{
            const colour = getComputedStyle(one).backgroundColor;
            if (channels(colour)[3] !== 0) return colour;
        }} }};
    return seen("body *").filter(one => !one.closest("svg") && [...one.childNodes].some(
        node => node.nodeType == Node.TEXT_NODE && node.textContent.trim())).map(one => {{
        const [dark, light] = [getComputedStyle(one).color, behind(one)].map(luminance).sort((a, b) => a - b);
        return [(light + 0.05) / (dark + 0.05), one.outerHTML] }}) }})()"""
