"""The report in a real browser: each control has its effect, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sges
from browser.chromium import Browser, program
from sges.graph import PDAG
from sges.knowledge import Knowledge
from sges.network import LinearGaussian, random_dag
from sges.operators import Insert
from sges.result import Result, Step
from sges.tools.report.page import replay

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


@pytest.fixture(autouse=True)
def _quiet(browser: Browser) -> Iterator[None]:
    """Check that the page requested only itself and reported no error."""
    yield
    ours = [url for url in browser.requests if not url.startswith(("data:", "about:"))]
    assert all(url.startswith("file:") for url in ours)
    assert ours[1:] == []
    assert browser.complaints == []


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


def set_value(page: Browser, selector: str, value: object) -> None:
    page.run(
        f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('input')); }})"
        f"(document.querySelector({selector!r}))"
    )


TIERS = Knowledge(tiers=[["x0", "x1", "x2"], ["x3", "x4", "x5"], ["x6", "x7", "x8", "x9"]])


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "two-phase", "forward": "fes"},
        {"strategy": "two-phase", "forward": "complete"},
        {"strategy": "turning"},
        {"strategy": "interleaved"},
        {"strategy": "auto"},
        {"strategy": "two-phase", "assume": sges.MaxParents(2)},
        {"strategy": "two-phase", "knowledge": TIERS},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_the_picture_after_every_step_is_the_graph_of_the_library(
    browser: Browser, tmp_path: Path, options: dict[str, Any]
) -> None:
    network = LinearGaussian.random(random_dag(10, 18, 2), seed=2)
    result = sges.learn(network.sample(400, 2), **options)
    graphs = replay(result)
    assert graphs is not None
    assert len(graphs) == len(result.steps) + 1 > 10
    browser.open(result.report(tmp_path / "report.html"))
    assert graph_of(browser.run(SHOWN), 10) == result.cpdag
    for step in [*range(len(graphs)), *reversed(range(len(graphs)))]:
        set_value(browser, "#step", step)
        assert graph_of(browser.run(SHOWN), 10) == graphs[step]
    click(browser, "#last")
    assert graph_of(browser.run(SHOWN), 10) == result.cpdag


def test_a_neighborhood_after_every_step_is_that_of_the_library(
    browser: Browser, tmp_path: Path
) -> None:
    graph = PDAG.empty(450)
    steps: list[Step] = []
    for x, y in [(7, v) for v in range(10, 16)] + [(8, 10), (9, 10), (8, 9), (10, 11), (400, 401)]:
        operator = Insert(x, y)
        if operator.is_valid(graph):
            graph = operator.apply(graph)
            steps.append(Step("fes", operator, 1.0, float(len(steps)), graph.edge_count()))
    result = Result(graph, 1.0, tuple(steps))
    graphs = replay(result)
    assert graphs is not None
    browser.open(result.report(tmp_path / "report.html"))
    for node in (7, 10):
        set_value(browser, "#find", str(node))
        for step, after in enumerate(graphs):
            set_value(browser, "#step", step)
            near = after.adjacent(node) | 1 << node
            shown = graph_of(browser.run(SHOWN), 450)
            assert {*shown.directed_edges()} == {
                (x, y) for x, y in after.directed_edges() if near >> x & near >> y & 1
            }
            assert {*shown.undirected_edges()} == {
                (x, y) for x, y in after.undirected_edges() if near >> x & near >> y & 1
            }


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


def test_playing_ends_at_the_last_step_and_can_be_stopped(browser: Browser, tmp_path: Path) -> None:
    network = LinearGaussian.random(PDAG.from_edges(3, [(0, 1), (1, 2)]), seed=1)
    result, page = sges.learn(network.sample(400, 1), strategy="two-phase"), browser
    page.open(result.report(tmp_path / "report.html"))
    click(page, "#play")
    assert text(page, "#play") == "⏸ Stop"
    page.run(
        "new Promise(done => { const wait = setInterval(() => { if (document.documentElement"
        f".dataset.step === '{len(result.steps)}') {{ clearInterval(wait); done(); }} }}, 20); }})"
    )
    page.run("new Promise(done => setTimeout(done, 800))")
    assert text(page, "#play") == "▶ Play"
    click(page, "#play")
    click(page, "#play")
    stopped = page.run("document.documentElement.dataset.step")
    page.run("new Promise(done => setTimeout(done, 800))")
    assert page.run("document.documentElement.dataset.step") == stopped == "0"


def test_the_curve_and_the_table_of_steps_lead_to_a_step(page: Browser, result: Result) -> None:
    at = "Number(document.documentElement.dataset.step)"
    page.run("document.querySelector('#curve').scrollIntoView({block: 'center'})")
    left, top, width = page.run(
        "(r => [r.left, r.top + 40, r.width])"
        "(document.querySelector('#curve').getBoundingClientRect())"
    )
    last = len(result.steps)
    for step in (0, last // 2, last):
        page.click(left + width * (step / last) * 0.998, top)
        assert page.run(at) == step
    parts = page.run(
        "[...document.querySelectorAll('.phases span')]"
        ".map(e => [e.textContent, Number(e.style.flexGrow)])"
    )
    assert [name for name, _ in parts] == list(dict.fromkeys(s.phase for s in result.steps))
    assert sum(count for _, count in parts) == last
    page.run("document.querySelector('#steps').open = true")
    page.run("new Promise(done => setTimeout(done, 100))")
    assert page.run("document.querySelectorAll('#steps tbody tr').length") == last
    for step in range(1, last + 1):
        click(page, f"#steps tbody tr:nth-child({step}) button")
        assert page.run(at) == step
        assert result.steps[step - 1].phase in text(page, "#step-says")


def test_a_node_shows_its_neighborhood(page: Browser, result: Result) -> None:
    v = max(range(12), key=lambda u: result.cpdag.adjacent(u).bit_count())
    click(page, f"#drawing .node[data-v='{v}']")
    told, around = text(page, "#details"), result.cpdag.adjacent(result.names[v])
    assert all(name in told for name in around)
    near = page.run("[...document.querySelectorAll('.node.near')].map(e => Number(e.dataset.v))")
    assert {result.names[u] for u in near} == {result.names[v], *around}


def test_finding_a_variable_chooses_it(page: Browser, result: Result) -> None:
    set_value(page, "#find", result.names[3])
    assert text(page, "#details h3") == result.names[3]
    page.run("document.querySelector('#find').value = 'nothing like it'")
    page.run("document.querySelector('#find').focus()")
    page.press("Enter")
    assert text(page, "#details h3") == "Not found"


def test_an_edge_says_why_it_is_there(page: Browser, result: Result) -> None:
    for k, edge in enumerate(result.edges):
        click(page, f"#edge-table tr[data-e='{k}'] td:nth-child(2) button")
        told = text(page, "#details")
        assert str(edge) in told
        assert f"step {edge.step} " in told
    assert page.run("document.querySelectorAll('#drawing .edge.hot').length") == 1


def test_a_click_on_a_drawn_edge_chooses_it(page: Browser) -> None:
    place = page.run(
        "(p => { const m = p.getPointAtLength(p.getTotalLength() / 2).matrixTransform("
        "p.getScreenCTM()); return [m.x, m.y, Number(p.dataset.x), Number(p.dataset.y)]; })"
        "(document.querySelector('#lines .edge'))"
    )
    page.click(place[0], place[1])
    assert page.run("document.querySelectorAll('#drawing .edge.hot').length") == 1


def test_every_column_of_the_table_sorts(page: Browser, result: Result) -> None:
    order = "[...document.querySelectorAll('#edge-table tbody tr')].map(r => Number(r.dataset.e))"
    columns: list[list[Any]] = [
        [edge.source for edge in result.edges],
        [edge.kind == "directed" for edge in result.edges],
        [edge.target for edge in result.edges],
        [edge.gain for edge in result.edges],
        [edge.step for edge in result.edges],
        [edge.strength for edge in result.edges],
    ]
    for k, values in enumerate(columns, start=1):
        known: list[Any] = [
            (0, int(value[1:])) if isinstance(value, str) else (value is None, value or 0)
            for value in values
        ]
        for direction in ("ascending", "descending"):
            click(page, f"#edge-table th:nth-child({k}) button")
            head = f"document.querySelector('#edge-table th:nth-child({k})')"
            assert page.run(f"{head}.getAttribute('aria-sort')") == direction
            shown = [known[row] for row in page.run(order)]
            sign = 1 if direction == "ascending" else -1
            assert shown == sorted(known, key=lambda value: (value[0], sign * value[1]))


def test_names_in_the_table_choose_variables(page: Browser, result: Result) -> None:
    for k, edge in enumerate(result.edges[:4]):
        for cell, name in ((1, edge.source), (3, edge.target)):
            click(page, f"#edge-table tr[data-e='{k}'] td:nth-child({cell}) button")
            assert text(page, "#details h3") == name
    click(page, "#details .names button")
    assert text(page, "#details h3") in result.names
    page.run(
        "[...document.querySelectorAll('#details h4')].find(h => h.textContent === "
        "'Why these edges').nextSibling.querySelector('button').click()"
    )
    assert text(page, "#details h3") in {str(edge) for edge in result.edges}


def test_the_slider_hides_the_weakest_edges(page: Browser, result: Result) -> None:
    weakest = sorted(result.edges, key=lambda edge: edge.strength or 0.0)[:3]
    set_value(page, "#threshold", 3)
    left = {frozenset(edge[:2]) for edge in page.run(SHOWN)}
    assert len(left) == result.cpdag.edge_count() - 3
    number = {name: v for v, name in enumerate(result.names)}
    assert not left & {frozenset((number[e.source], number[e.target])) for e in weakest}


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


def test_the_keyboard_reaches_the_picture(page: Browser, result: Result) -> None:
    view = "document.querySelector('#drawing').getAttribute('viewBox').split(' ').map(Number)"
    whole = page.run(view)
    page.run("document.querySelector('#drawing').focus()")
    page.press("+")
    near = page.run(view)
    assert near[2] < whole[2]
    page.press("-")
    assert page.run(view)[2] == pytest.approx(whole[2], abs=0.1)
    for key, place, sign in (
        ("ArrowRight", 0, 1), ("ArrowLeft", 0, -1), ("ArrowDown", 1, 1), ("ArrowUp", 1, -1),
    ):  # fmt: skip
        before = page.run(view)
        page.press(key)
        assert (page.run(view)[place] - before[place]) * sign > 0
    page.press("0")
    assert page.run(view) == pytest.approx(whole, abs=0.1)
    page.run("document.querySelector('.node[data-v=\"2\"]').focus()")
    page.press("Enter")
    assert text(page, "#details h3") == result.names[2]
    page.run("document.querySelector('#drawing').focus()")
    page.press("Escape")
    assert text(page, "#details h3") == "Details"


def test_everything_has_a_name_for_a_screen_reader(page: Browser, result: Result) -> None:
    page.run("document.querySelector('#steps').open = true")
    nameless = page.run(
        "[...document.querySelectorAll('button, input, [role=button], [role=img], iframe, aside')]"
        ".filter(e => !e.closest('[hidden]')).filter(e => !(e.getAttribute('aria-label') "
        "|| e.getAttribute('aria-labelledby') || e.textContent.trim() "
        "|| (e.labels && e.labels.length))).map(e => e.outerHTML)"
    )
    assert nameless == []
    v = 2
    said = page.run(f"document.querySelector('.node[data-v=\"{v}\"]').getAttribute('aria-label')")
    assert said.startswith(f"{result.names[v]}: {len(result.parents(v))} parent")
    assert page.run("document.querySelector('#step').getAttribute('aria-valuetext')") == text(
        page, "#step-says"
    )
    rows = page.run("document.querySelectorAll('#edge-table tbody tr').length")
    assert rows == result.cpdag.edge_count()


def test_wheel_and_double_click_zoom(page: Browser) -> None:
    view = "Number(document.querySelector('#drawing').getAttribute('viewBox').split(' ')[2])"
    widths = [page.run(view)]
    drawing = "document.querySelector('#drawing')"
    place = "{clientX: 300, clientY: 500, bubbles: true, cancelable: true"
    page.run(f"{drawing}.dispatchEvent(new WheelEvent('wheel', {place}, deltaY: -200}}))")
    widths.append(page.run(view))
    assert widths[1] == widths[0], "an ordinary wheel scrolls the page"
    zoomed = f"new WheelEvent('wheel', {place}, deltaY: -200, ctrlKey: true}})"
    page.run(f"{drawing}.dispatchEvent({zoomed})")
    widths.append(page.run(view))
    page.run(f"{drawing}.dispatchEvent(new MouseEvent('dblclick', {place}}}))")
    widths.append(page.run(view))
    click(page, "#zoom-out")
    assert widths[1] > widths[2] > widths[3] < page.run(view)


@pytest.fixture
def wide(browser: Browser, tmp_path: Path) -> tuple[Browser, Result]:
    network = LinearGaussian.random(random_dag(80, 100, 1), seed=1)
    result = sges.learn(network.sample(600, 1), strategy="two-phase")
    browser.open(result.report(tmp_path / "report.html"))
    return browser, result


IS_SEEN = """(e => { const [a, b] = [e, document.querySelector('#picture')]
  .map(x => x.getBoundingClientRect());
  return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom; })"""


def test_what_is_chosen_outside_the_picture_comes_into_view(wide: tuple[Browser, Result]) -> None:
    page, result = wide
    for k, edge in enumerate(result.edges[:12]):
        click(page, f"#edge-table tr[data-e='{k}'] td:nth-child(2) button")
        ends = [result.names.index(name) for name in (edge.source, edge.target)]
        seen = [
            page.run(f"{IS_SEEN}(document.querySelector('.node[data-v=\"{v}\"]'))") for v in ends
        ]
        assert any(seen)
        set_value(page, "#find", edge.source)
        assert page.run(f"{IS_SEEN}(document.querySelector('.node.focus'))") is True


def test_the_map_moves_the_picture(wide: tuple[Browser, Result]) -> None:
    page, _ = wide
    view = "Number(document.querySelector('#drawing').getAttribute('viewBox').split(' ')[0])"
    for _ in range(3):
        click(page, "#zoom-in")
    assert page.run("document.querySelector('#map').hasAttribute('hidden')") is False
    left, top, width, height = page.run(
        "(r => [r.left, r.top, r.width, r.height])"
        "(document.querySelector('#map').getBoundingClientRect())"
    )
    page.click(left + 0.9 * width, top + height / 2)
    right = page.run(view)
    page.click(left + 0.1 * width, top + height / 2)
    assert page.run(view) < right


@pytest.mark.parametrize("node", [0, 100])
def test_no_line_of_a_neighborhood_runs_through_a_box(
    browser: Browser, tmp_path: Path, node: int
) -> None:
    """Node 0 has adjacent parents, children and neighbors; 100 has two rows of children."""
    arrows = [(1, 0), (0, 2), (1, 2), (3, 2), (4, 2), (1, 5), (0, 5), (2, 5)]
    fan = [(100, v) for v in range(101, 121)]
    graph = PDAG.from_edges(420, [*arrows, *fan], [(0, 3), (0, 4), (3, 4)])
    browser.open(Result(graph, 0.0).report(tmp_path / "report.html"))
    set_value(browser, "#find", str(node))
    assert len(browser.run(SHOWN)) == (20 if node else 11)
    hits = browser.run(
        """[...document.querySelectorAll('#extra .edge')].flatMap(path =>
          [...document.querySelectorAll('.node')]
            .filter(box => ![path.dataset.x, path.dataset.y].includes(box.dataset.v))
            .filter(box => { const r = box.querySelector('rect').getBBox();
              return [...Array(60).keys()].some(k => {
                const p = path.getPointAtLength(path.getTotalLength() * k / 59);
                return p.x > r.x && p.x < r.x + r.width && p.y > r.y && p.y < r.y + r.height; }); })
            .map(box => [path.dataset.x, path.dataset.y, box.dataset.v]))"""
    )
    assert hits == []


def test_the_slider_hides_by_the_shares_of_replicates(browser: Browser, tmp_path: Path) -> None:
    data = LinearGaussian.random(random_dag(10, 16, 3), seed=3).sample(80, 3)
    result, found = sges.learn(data), sges.confidence(data, replicates=20)
    browser.open(result.report(tmp_path / "report.html", confidence=found))
    shares = [found.strength(edge.source, edge.target) for edge in result.edges]
    levels = sorted(set(shares))
    assert len(levels) > 2
    for k in range(len(levels) + 1):
        set_value(browser, "#threshold", k)
        kept = sum(share > ([-1.0, *levels][k]) for share in shares)
        assert len(browser.run(SHOWN)) == kept
    assert "share up to 1" in text(browser, "#threshold-says")
    click(browser, "#edge-table tr[data-e='0'] td:nth-child(2) button")
    assert f"Of 20 replicates of the table, {round(20 * shares[0])} have" in text(
        browser, "#details"
    )


def test_a_page_opens_within_a_second(browser: Browser, tmp_path: Path) -> None:
    """In processor time until the page is drawn, as other work may slow the browser down."""
    network = LinearGaussian.random(random_dag(1000, 1500, 1), seed=1)
    result = sges.learn(network.sample(1500, 1), strategy="two-phase")
    path = result.report(tmp_path / "report.html")
    browser.open(path)
    browser.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    assert browser.busy() < 1


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


def test_colors_follow_the_system_and_the_button(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    color = "getComputedStyle(document.body).backgroundColor"
    path = result.report(tmp_path / "report.html")
    browser.open(path)
    light = browser.run(color)
    click(browser, "#theme")
    dark = browser.run(color)
    assert dark != light
    browser.open(path, dark=True)
    assert browser.run(color) == dark


def test_a_phone_needs_no_sideways_scrolling(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    browser.open(result.report(tmp_path / "report.html"), width=390, height=800)
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_the_page_prints(page: Browser, tmp_path: Path) -> None:
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


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


def test_where_frames_are_stripped_the_image_of_the_graph_is_left(
    browser: Browser, result: Result, tmp_path: Path
) -> None:
    stripped = re.sub(r"<iframe.*?</iframe>", "", result._repr_html_(), flags=re.DOTALL)
    notebook = tmp_path / "stripped.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{stripped}", encoding="utf-8")
    browser.open(notebook)
    loaded = "(i => i.complete && i.naturalWidth > 100)(document.querySelector('img'))"
    assert browser.run(loaded) is True
