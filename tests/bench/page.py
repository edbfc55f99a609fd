#!/usr/bin/env python3
"""How smooth the page of --format html, or attn.html, is in headless Chromium, in milliseconds of its one thread.

usage: page.py ATTN_CLI [WORDS HEADS [OPTION …]]
       page.py ATTN_HTML [WORDS]

Writes a page of WORDS (512) words and HEADS (16) heads, opens it from disk, and times by performance.now(): its loading, another
head, the pointer over another cell, another cell chosen, scrolling, and the same for lines. Of attn.html: its loading, with the
result that it carries; until the program is there; then each sentence of WORDS (100) words, until the page has its result, and until
that is drawn. Each other time ends when the layout is done; needs chromium, chromium-driver and python3-selenium.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMES = """
const times = {};
const time = (name, count, act) => {
  const all = Array.from({length: count}, (_, i) => {
    const before = performance.now();
    act(i);
    heatMap.draw();
    document.body.getBoundingClientRect();
    return performance.now() - before;
  }).sort((a, b) => a - b);
  times[name] = [all[all.length >> 1], all.at(-1)];
};
const place = (i) => ({row: (i * 37) % result.T, column: (i * 61) % result.S});
time("another head", result.H, (i) => update({head: (i + 1) % result.H}));
time("pointer over a cell", 100, (i) => heatMap.point(place(i)));
heatMap.point(null);
for (let step = 0; step < kinds.length; ++step) {
  update({step});
  time(`cell chosen, ${kinds[step].name}`, 30, (i) => update(place(i)));
}
zoom(25);
time("scrolling", 50, (i) => { heatMap.scroller.scrollTop = 97 * i; });
update({view: "lines"});
time("lines: another head", result.H, (i) => update({head: (i + 1) % result.H}));
time("lines: pointer over a word", 100, (i) => lines.point({row: place(i).row}));
return times;
"""

FORM_TIMES = """
const done = arguments[arguments.length - 1];
const shown = () => {
  const before = performance.now();
  form.compute();
  const inPage = performance.now();
  heatMap.draw();
  document.body.getBoundingClientRect();
  return [inPage - before, performance.now() - before];
};
const median = (all, which) => all.map((each) => each[which]).sort((a, b) => a - b)[all.length >> 1];
const wait = () => {
  if (!form.program) {
    return setTimeout(wait, 1);
  }
  const ready = performance.now();
  const all = Array.from({length: 30}, (_, i) => {
    form.sentence.value = Array.from({length: arguments[0]}, (_, n) => `w${(n * 7 + i) % 83}`).join(" ");
    return shown();
  });
  const [[, first]] = all.splice(0, 1);
  done({ready, first, inPage: median(all, 0), drawn: median(all, 1), error: form.error.textContent});
};
wait();
"""


def times_of_form(driver, words):
    made = driver.execute_async_script(FORM_TIMES, words)
    if made["error"]:
        sys.exit(made["error"])
    print(f"the program is there after {made['ready']:.0f} ms")
    print(f"{words} words: first {made['first']:.1f} ms; then, medians, in the page after {made['inPage']:.1f} ms, drawn after {made['drawn']:.1f} ms")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        sys.exit("selenium is missing: apt-get install python3-selenium chromium chromium-driver")
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(option)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1]).absolute()
        is_form = page.suffix == ".html"
        if not is_form:
            page = written_page(Path(folder) / "page.html")
        driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        try:
            driver.get(page.as_uri())
            print(f"loaded in {driver.execute_script('return performance.getEntriesByType(`navigation`)[0].loadEventEnd'):.0f} ms")
            if is_form:
                times_of_form(driver, int((sys.argv[2:3] or [100])[0]))
                return
            for name, (median, longest) in driver.execute_script(TIMES).items():
                print(f"{name:<28} median {median:6.1f} ms, longest {longest:6.1f} ms")
        finally:
            driver.quit()


def written_page(page):
    words, heads = (int(number) for number in (sys.argv[2:4] or (512, 16)))
    before = time.perf_counter()
    sentence = " ".join(f"w{i % 300}" for i in range(words))
    size = ["--heads", str(heads), "--embed-dim", str(32 * heads)]
    subprocess.run([os.path.abspath(sys.argv[1]), "run", sentence, *size, *sys.argv[4:], "-o", page], check=True)
    print(f"written in {(time.perf_counter() - before) * 1e3:.0f} ms, {page.stat().st_size / 1e6:.1f} MB")
    return page


if __name__ == "__main__":
    main()
