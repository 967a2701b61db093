"""The report in a real browser: every control does what it says, and nothing else happens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sges
from browser.chromium import Browser, program
from sges.graph import PDAG
from sges.network import LinearGaussian, random_dag
from sges.operators import Insert
from sges.report.explanation import replay
from sges.result import Result, Step

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(program() is None, reason="no Chromium: apt install chromium"),
]

SHOWN = """[...document.querySelectorAll('#drawing .edge:not([hidden])')]
  .map(e => [Number(e.dataset.x), Number(e.dataset.y), Number(e.dataset.kind)])"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture
def result() -> Result:
    network = LinearGaussian.random(random_dag(12, 22, 4), seed=4)
    return sges.learn(network.sample(400, 4), strategy="two-phase")


@pytest.fixture
def page(browser: Browser, result: Result, tmp_path: Path) -> Browser:
    browser.open(result.report(tmp_path / "report.html"))
    return browser


def graph_of(edges: list[list[int]], n: int) -> PDAG:
    directed = [(x, y) for x, y, kind in edges if kind == 1]
    return PDAG.from_edges(n, directed, [(x, y) for x, y, kind in edges if kind == 2])


def click(page: Browser, selector: str) -> None:
    event = "new MouseEvent('click', {bubbles: true})"
    page.run(f"document.querySelector({selector!r}).dispatchEvent({event})")


def text(page: Browser, selector: str) -> str:
    return str(page.run(f"document.querySelector({selector!r}).textContent"))


def assert_quiet(page: Browser) -> None:
    """Check that the page asked for nothing but itself and complained of nothing."""
    assert [url for url in page.requests if not url.startswith(("data:", "about:"))][1:] == []
    assert all(url.startswith(("file:", "data:", "about:")) for url in page.requests)
    assert page.complaints == []


def set_value(page: Browser, selector: str, value: object) -> None:
    page.run(
        f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('input')); }})"
        f"(document.querySelector({selector!r}))"
    )


@pytest.mark.parametrize("forward", ["fes", "complete"])
def test_the_picture_after_every_step_is_the_graph_of_the_library(
    browser: Browser,
    tmp_path: Path,
    forward: Any,  # noqa: ANN401
) -> None:
    network = LinearGaussian.random(random_dag(10, 18, 2), seed=2)
    result = sges.learn(network.sample(400, 2), strategy="two-phase", forward=forward)
    graphs = replay(result)
    assert graphs is not None
    browser.open(result.report(tmp_path / "report.html"))
    assert graph_of(browser.run(SHOWN), 10) == result.cpdag
    for step in [*range(len(graphs)), *reversed(range(len(graphs)))]:
        set_value(browser, "#step", step)
        assert graph_of(browser.run(SHOWN), 10) == graphs[step]
    assert_quiet(browser)


def test_the_buttons_and_keys_walk_through_the_steps(page: Browser, result: Result) -> None:
    def at() -> int:
        return int(page.run("document.documentElement.dataset.step"))

    last = len(result.steps)
    assert at() == last
    for button, step in (("#first", 0), ("#next", 1), ("#next", 2), ("#back", 1), ("#last", last)):
        click(page, button)
        assert at() == step
    page.run("document.querySelector('#step').focus()")
    page.press("Home")
    assert at() == 0
    page.press("ArrowRight")
    assert at() == 1
    assert_quiet(page)


def test_playing_ends_at_the_last_step(page: Browser, result: Result) -> None:
    click(page, "#play")
    page.run(
        "new Promise(done => { const wait = setInterval(() => { if (document.documentElement"
        f".dataset.step === '{len(result.steps)}') {{ clearInterval(wait); done(); }} }}, 20); }})"
    )
    assert_quiet(page)


def test_a_node_shows_its_neighbourhood(page: Browser, result: Result) -> None:
    v = max(range(12), key=lambda u: result.cpdag.adjacent(u).bit_count())
    click(page, f"#drawing .node[data-v='{v}']")
    told = text(page, "#details")
    assert all(name in told for name in result.adjacent(v))
    near = page.run("[...document.querySelectorAll('.node.near')].map(e => Number(e.dataset.v))")
    assert {result.names[u] for u in near} == {result.names[v], *result.adjacent(v)}
    assert_quiet(page)


def test_finding_a_variable_chooses_it(page: Browser, result: Result) -> None:
    set_value(page, "#find", result.names[3])
    assert text(page, "#details h3") == result.names[3]
    page.run("document.querySelector('#find').value = 'nothing like it'")
    page.run("document.querySelector('#find').focus()")
    page.press("Enter")
    assert text(page, "#details h3") == "Not found"
    assert_quiet(page)


def test_an_edge_says_why_it_is_there(page: Browser, result: Result) -> None:
    for k, edge in enumerate(result.edges):
        click(page, f"#edge-table tr[data-e='{k}'] td:nth-child(2) button")
        told = text(page, "#details")
        assert str(edge) in told
        assert f"step {edge.step} " in told
    assert page.run("document.querySelectorAll('#drawing .edge.hot').length") == 1
    assert_quiet(page)


def test_a_click_on_a_drawn_edge_chooses_it(page: Browser) -> None:
    place = page.run(
        "(p => { const m = p.getPointAtLength(p.getTotalLength() / 2).matrixTransform("
        "p.getScreenCTM()); return [m.x, m.y, Number(p.dataset.x), Number(p.dataset.y)]; })"
        "(document.querySelector('#lines .edge'))"
    )
    page.click(place[0], place[1])
    assert page.run("document.querySelectorAll('#drawing .edge.hot').length") == 1
    assert_quiet(page)


def test_a_sorted_column_is_sorted(page: Browser, result: Result) -> None:
    column = "#edge-table th:nth-child(6) button"
    order = "[...document.querySelectorAll('#edge-table tbody tr')].map(r => Number(r.dataset.e))"
    strengths = [edge.strength or 0.0 for edge in result.edges]
    click(page, column)
    assert [strengths[k] for k in page.run(order)] == sorted(strengths)
    click(page, column)
    assert [strengths[k] for k in page.run(order)] == sorted(strengths, reverse=True)
    assert_quiet(page)


def test_the_slider_hides_the_weakest_edges(page: Browser, result: Result) -> None:
    weakest = sorted(result.edges, key=lambda edge: edge.strength or 0.0)[:3]
    set_value(page, "#threshold", 3)
    left = {frozenset(edge[:2]) for edge in page.run(SHOWN)}
    assert len(left) == result.cpdag.edge_count() - 3
    number = {name: v for v, name in enumerate(result.names)}
    assert not left & {frozenset((number[e.source], number[e.target])) for e in weakest}
    assert_quiet(page)


def test_zoom_and_drag_change_what_is_seen(page: Browser) -> None:
    view = "document.querySelector('#drawing').getAttribute('viewBox')"
    whole = page.run(view)
    click(page, "#zoom-in")
    near = page.run(view)
    assert near != whole
    corner = page.run(
        "(r => [r.left + 12, r.top + 12])"
        "(document.querySelector('#drawing').getBoundingClientRect())"
    )
    page.drag((corner[0], corner[1]), (corner[0] + 80, corner[1] + 40))
    assert page.run(view) != near
    click(page, "#fit")
    assert [float(c) for c in page.run(view).split()] == [float(c) for c in whole.split()]
    assert_quiet(page)


def test_hostile_names_are_only_text(browser: Browser, tmp_path: Path) -> None:
    names = [
        "<script>window.hit=1</script>",
        "</script><img src=x onerror='window.hit=1'>",
        "a\"b'c",
    ]
    step = Step("<b>fes</b>", Insert(0, 1), 2.0, 2.0, 1)
    graph = PDAG.from_edges(3, undirected=[(0, 1)], names=names)
    result = Result(graph, 2.0, (step,), notes=("<img src=x onerror='window.hit=1'>",))
    browser.open(result.report(tmp_path / "report.html"))
    click(browser, "#drawing .node[data-v='0']")
    click(browser, "#edge-table tr[data-e='0'] td:nth-child(2) button")
    browser.run("document.querySelector('#steps').open = true")
    assert browser.run("window.hit === undefined") is True
    assert browser.run("document.images.length") == 0
    assert "<script>window.hit=1</script>" in text(browser, "#details")
    assert_quiet(browser)


def test_a_large_graph_is_shown_by_neighbourhoods(browser: Browser, tmp_path: Path) -> None:
    graph = PDAG.from_edges(600, [(v, v + 1) for v in range(599)])
    browser.open(Result(graph, 0.0).report(tmp_path / "report.html"))
    set_value(browser, "#find", "300")
    assert sorted(browser.run(SHOWN)) == [[299, 300, 1], [300, 301, 1]]
    assert_quiet(browser)


def test_colours_follow_the_system_and_the_button(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    path = result.report(tmp_path / "report.html")
    browser.open(path)
    light = browser.run(colour)
    click(browser, "#theme")
    dark = browser.run(colour)
    assert dark != light
    browser.open(path, dark=True)
    assert browser.run(colour) == dark
    assert_quiet(browser)


def test_a_phone_needs_no_sideways_scrolling(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    browser.open(result.report(tmp_path / "report.html"), width=390, height=800)
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_the_page_prints(page: Browser, tmp_path: Path) -> None:
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert_quiet(page)


def test_two_results_in_one_notebook_are_each_interactive(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    shown = result._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{shown}<hr>{shown}", encoding="utf-8")
    browser.open(notebook)
    before, after = tmp_path / "before.png", tmp_path / "after.png"
    wait = "new Promise(done => setTimeout(done, 1500))"  # frames are drawn after the page
    browser.run(wait)
    browser.picture(before)
    find = "(f => [f.left, f.top])(document.querySelector('iframe').getBoundingClientRect())"
    left, top = browser.run(find)
    browser.click(left + 120, top + 95)  # the field for finding a variable
    for letter in result.names[3]:
        browser.press(letter)
    browser.press("Enter")
    browser.run(wait)
    browser.picture(after)
    assert before.read_bytes() != after.read_bytes()
    assert_quiet(browser)


def test_where_frames_are_stripped_the_image_of_the_graph_is_left(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    stripped = re.sub(r"<iframe.*?</iframe>", "", result._repr_html_(), flags=re.DOTALL)
    notebook = tmp_path / "stripped.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{stripped}", encoding="utf-8")
    browser.open(notebook)
    loaded = "(i => i.complete && i.naturalWidth > 100)(document.querySelector('img'))"
    assert browser.run(loaded) is True
    assert_quiet(browser)
