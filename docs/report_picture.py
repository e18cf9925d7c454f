"""Take the picture of the report: what the code of the page on reports writes, in a browser."""

import shutil
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from docs.pages import BLOCK

FOLDER = Path(__file__).parent
OUT = FOLDER / "report.png"


def main() -> None:
    """Write the report, mark three points, open the details of one and take the picture."""
    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        exec(BLOCK.findall((FOLDER / "report.md").read_text())[0][1], {})
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1420})
        page.goto(Path("report.html").resolve().as_uri())
        points = page.locator("tr.point")
        for place, decision in enumerate(("Relabel", "Relabel", "Remove")):
            points.nth(place).get_by_role("button", name=decision, exact=True).click()
        points.nth(1).get_by_role("button", name="Details").click()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=OUT)
        browser.close()


if __name__ == "__main__":
    main()
