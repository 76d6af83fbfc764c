"""Drive a report page in headless Chromium as its reader would.

    python tests/browser/drive.py reports/out/index.html
    python tests/browser/drive.py reports/out/index.html --screenshots shots

It searches, filters, opens claims from the graph by mouse and by keyboard, copies commands, prints,
and looks at light and dark, wide and narrow; then it does the same to the page of a claim whose
words attack it. One line a step; the first thing that is not as it must be ends it with status 1.
Needs the extra `browser` and a Chromium of the system; it downloads none.
"""

from __future__ import annotations

import argparse
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HOSTILE = Path(__file__).with_name("hostile_claims.py")


class PageError(Exception):
    """Something on the page that is not as it must be."""


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def require(met: object, where: str, required: str, got: object, remedy: str) -> None:
    if not met:
        raise PageError(f"{where}: {required} is required, got {got!r}; {remedy}")


@dataclass(kw_only=True)
class Watch:
    """What must not happen while a page is read."""

    url: str
    seen: list[str] = field(default_factory=list[str])

    def on(self, page: Any) -> None:
        page.on("console", lambda message: self.seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.seen.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _dialog(self, dialog: Any) -> None:
        self.seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if request.url.partition("#")[0] != self.url:
            self.seen.append(f"request: {request.url}")

    def require_quiet(self, where: str) -> None:
        quiet = "no console message, error, dialog or request"
        require(not self.seen, where, quiet, self.seen, "mend reports/templates")


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """The page, watched until it is closed."""
    watch = Watch(url=path.resolve().as_uri())
    context = browser.new_context(**{"viewport": WIDE, **options})
    page = context.new_page()
    watch.on(page)
    page.goto(watch.url)
    try:
        yield page
        watch.require_quiet(str(path))
    finally:
        context.close()


def ids(page: Any, selector: str) -> list[str]:
    """The claims that the elements of a selector speak of, if they are visible."""
    found = "es => es.filter(e => e.checkVisibility()).map(e => e.dataset.claim)"
    return page.eval_on_selector_all(selector, found)


def require_shown(page: Any, where: str, expected: set[str]) -> None:
    """The table, the sections, the graph and the count all show these claims and no others."""
    total = page.locator("tr.row").count()
    for part in ("tr.row", "details.claim", "a.node:not(.dimmed)"):
        got = set(ids(page, part))
        differing = f"{part}: {sorted(got ^ expected)[:5]}"
        require(got == expected, where, "the same claims in every part", differing, "see filter()")
    told, words = page.inner_text("#shown"), f"{len(expected)} of {total} shown"
    require(told == words, where, words, told, "see filter() in page.js")
    hidden = not page.locator("#claims ~ .no-match").is_visible()
    require(hidden == bool(expected), where, "a line where nothing matches", hidden, "see filter()")


def search_and_filter(page: Any) -> str:
    every = set(ids(page, "tr.row"))
    require_shown(page, "the page as opened", every)
    name = page.locator("tr.row").last.get_attribute("data-claim")
    words = name.upper().split(".")
    texts: dict[str, str] = page.eval_on_selector_all(
        "tr.row",
        "es => Object.fromEntries(es.map(e => [e.dataset.claim, "
        "[...e.querySelectorAll('[data-searched]')].map(c => c.textContent).join(' ')]))",
    )
    matching = {
        key for key, text in texts.items() if all(word.lower() in text.lower() for word in words)
    }
    require(name in matching, "the table", "each claim's id in its row", texts[name], "see index")
    page.fill("#search", " ".join(reversed(words)))
    require_shown(page, f"search {words}", matching)
    page.fill("#search", "no claim says this")
    require_shown(page, "a search without a match", set())
    page.click("#clear")
    require_shown(page, "Clear", every)
    for select, attribute in (("paper", "paper"), ("standing", "standing"), ("method", "methods")):
        value = page.locator(f"select[name={select}] option").last.get_attribute("value")
        rows = page.locator("tr.row").evaluate_all(
            "(es, [key, value]) => es.filter(e => e.dataset[key].split('\\n').includes(value))"
            ".map(e => e.dataset.claim)",
            [attribute, value],
        )
        page.select_option(f"select[name={select}]", value)
        require_shown(page, f"{select} {value}", set(rows))
        page.click("#clear")
    page.select_option("select[name=outcome]", "not ok")
    require_shown(page, "not as expected", set(ids(page, "tr.row:not([data-outcome=ok])")))
    page.click("#clear")
    return f"searched and filtered {len(every)} claims"


def require_open(page: Any, name: str, where: str) -> None:
    """The claim's section is open at the top of the window and tells the standing of its node."""
    section = page.locator(f'details.claim[data-claim="{name}"]')
    state = section.evaluate("e => [e.open, Math.round(e.getBoundingClientRect().top)]")
    near = state[0] and 0 <= state[1] < WIDE["height"] // 2
    require(near, where, f"{name} open and in sight", state, "see reveal() in page.js")
    standing = section.locator("summary .tag").inner_text()
    label = page.locator(f'a.node[data-claim="{name}"]').get_attribute("aria-label")
    require(f": {standing}, " in label, where, "the node's standing", standing, "see graph.html")


def walk_the_graph(page: Any) -> str:
    """By mouse to a claim, by keyboard along an edge, and by a link to what a claim rests on."""
    node = page.locator("a.node").last
    node.click()
    require_open(page, node.get_attribute("data-claim"), "a click in the graph")
    joined = page.locator(".edge").evaluate_all(
        "es => es.map(e => [e.dataset.user, e.dataset.used])"
    )
    if not joined:
        return "opened a claim from the graph by mouse"
    user = joined[-1][0]
    page.locator(f'a.node[data-claim="{user}"]').focus()
    used = {b for a, b in joined if a == user}
    traced = set(ids(page, "a.node.traced"))
    require({user, *used} <= traced, user, "what it rests on traced", traced, "see trace()")
    page.keyboard.press("ArrowLeft")
    at = page.evaluate("document.activeElement.dataset.claim")
    require(at in used, f"left of {user}", f"one of {sorted(used)}", at, "see step() in page.js")
    page.keyboard.press("Enter")
    require_open(page, at, "Enter on a node")
    page.locator(f'a.node[data-claim="{at}"]').focus()
    page.keyboard.press("ArrowRight")
    users = {a for a, b in joined if b == at}
    back = page.evaluate("document.activeElement.dataset.claim")
    require(back in users, f"right of {at}", f"one of {sorted(users)}", back, "see step()")
    page.keyboard.press("Enter")
    link = page.locator(f'details.claim[data-claim="{back}"] dl.facts a[href^="#claim-"]').first
    other = link.inner_text()
    link.click()
    require_open(page, other, f"a link in {back}")
    return f"opened claims from the graph by mouse and keys, and {other} from {back}"


def copy_the_command(page: Any, how: str) -> str:
    """Copy a claim's command, and paste it into the search."""
    section = page.locator("details.claim[open]").last
    wanted = section.locator("code.command").inner_text()
    section.locator("button.copy").click()
    page.wait_for_function("document.getElementById('told').textContent")
    page.fill("#search", "")
    page.focus("#search")
    page.keyboard.press("Control+V")
    got = page.input_value("#search")
    require(got == wanted, f"Copy, {how}", repr(wanted), got, "see copied() in page.js")
    page.click("#clear")
    return f"copied {wanted!r} {how}"


def print_it(page: Any, folder: Path) -> str:
    """Collapse every claim and filter all away: on paper everything is there nevertheless."""
    page.click("button.fold-all[data-open=false] >> nth=-1")
    page.fill("#search", "no claim says this")
    page.emulate_media(media="print")
    hidden = page.locator("details.claim h4").evaluate_all(
        "es => es.filter(e => !e.getBoundingClientRect().height).length"
    )
    require(not hidden, "print", "every claim's section laid out", hidden, "see @media print")
    path = folder / "page.pdf"
    page.pdf(
        path=str(path), format="A4", margin=dict.fromkeys("top right bottom left".split(), "12mm")
    )
    data = path.read_bytes()
    pages = len(re.findall(rb"/Type\s*/Page\b", data))
    claims = page.locator("details.claim").count()
    require(
        pages >= max(2, claims // 2), "print", "some pages a claim", pages, "see unfoldForPrint()"
    )
    if reader := shutil.which("pdftotext"):
        text = subprocess.run(
            [reader, path, "-"], capture_output=True, text=True, check=True
        ).stdout
        told = text.count("What is checked")
        require(told == claims, "print", f"the text of {claims} claims", told, "see @media print")
    page.emulate_media(media="screen")
    page.click("#clear")
    return f"printed {pages} pages, {len(data) >> 10} KiB"


def look(browser: Any, path: Path, shots: Path | None, name: str) -> str:
    """Light and dark, wide and narrow: nothing stands beyond the window's edge."""
    for scheme in ("light", "dark"):
        for size in (WIDE, NARROW):
            with opened(browser, path, viewport=size, color_scheme=scheme) as page:
                where = f"{name}, {scheme}, {size['width']} pixels"
                dark = (
                    "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128"
                )
                require(
                    page.evaluate(dark) == (scheme == "dark"), where, scheme, page.url, "see :root"
                )
                page.click("button.fold-all[data-open=true] >> nth=-1")
                width = page.evaluate("document.documentElement.scrollWidth")
                require(
                    width <= size["width"], where, f"{size['width']} pixels", width, "see style.css"
                )
                if shots:
                    page.click("button.fold-all[data-open=false] >> nth=-1")
                    stem = f"{name}-{size['width']}-{scheme}"
                    page.evaluate("scrollTo(0, 0)")
                    page.screenshot(path=str(shots / f"{stem}.png"))
                    page.locator("a.node").last.evaluate(
                        "e => { location.hash = e.getAttribute('href'); }"
                    )
                    page.wait_for_timeout(300)
                    page.screenshot(path=str(shots / f"{stem}-claim.png"))
    return "looked at it in light and dark, at 1280 and at 390 pixels"


def read_without_script(browser: Any, path: Path) -> str:
    with opened(browser, path, java_script_enabled=False) as page:
        closed = page.locator("details.fold:not([open])").count()
        controls = page.locator(".scripted:visible").count()
    require(not closed, "without JavaScript", "every claim open", closed, "see claim.html")
    require(not controls, "without JavaScript", "no dead control", controls, "see .scripted")
    return "read it without JavaScript"


def drive(browser: Any, path: Path, folder: Path, shots: Path | None, name: str) -> None:
    with opened(browser, path) as page:
        say(search_and_filter(page))
        say(walk_the_graph(page))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        say(copy_the_command(page, "through the clipboard"))
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        say(copy_the_command(page, "by selection"))
        say(print_it(page, folder))
    say(read_without_script(browser, path))
    say(look(browser, path, shots, name))


def hostile(folder: Path) -> Path:
    """The page of claims whose every word attacks it."""
    command = [sys.executable, "-m", "reports.cli", "verify", str(HOSTILE), "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    page = folder / "index.html"
    told = done.stderr[-500:]
    require(page.exists(), f"certiformer verify {HOSTILE}", "a page", told, "see its message")
    return page


def require_text(browser: Any, path: Path) -> str:
    words = runpy.run_path(str(HOSTILE))["SEEN"]
    with opened(browser, path) as page:
        count = page.evaluate("document.body.textContent").count(words)
        scripts = page.locator("script").count()
    require(count >= 15, "hostile claims", f"{words} as text", count, "see _shown() in html.py")
    require(scripts == 1, "hostile claims", "the page's own script only", scripts, "escape it")
    return f"read the hostile words as text, {count} times"


def main() -> None:
    parser = argparse.ArgumentParser(description="Drive a report page in headless Chromium.")
    parser.add_argument("page", type=Path, help="index.html of a run")
    parser.add_argument("--screenshots", type=Path, help="folder for screenshots")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or not arguments.page.is_file():
        sys.exit(
            "drive.py: a Chromium on the path and a page are required; install or verify first"
        )
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    play = import_module("playwright.sync_api").sync_playwright
    with play() as library, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = library.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            drive(browser, arguments.page, folder, arguments.screenshots, "page")
            odd = hostile(folder / "hostile")
            say(require_text(browser, odd))
            drive(browser, odd, folder, arguments.screenshots, "hostile")
        except PageError as error:
            sys.exit(str(error))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
