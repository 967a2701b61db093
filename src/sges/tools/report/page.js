// The script of the report: zoom, find, neighborhoods, reasons, sorting, and the replay.
// It writes names only as text, and asks for nothing from the network.
(function () {
  "use strict";

  const view = JSON.parse(document.getElementById("sges-view").textContent);
  const NONE = 0, DIRECTED = 1, UNDIRECTED = 2;
  const SVG = "http://www.w3.org/2000/svg";
  const names = view.names, n = names.length;
  const drawing = document.getElementById("drawing");
  const details = document.getElementById("details");
  const isDrawn = view.boxes.length > 0;
  const boxes = new Map(view.boxes.map((box, v) => [v, box]));
  const hasReplay = view.start !== null;
  const lastStep = view.steps.length;
  const lastFrame = lastStep + (hasReplay && view.changes[lastStep].length ? 1 : 0);

  const $ = (id) => document.getElementById(id);
  const key = (a, b) => (a < b ? a * n + b : b * n + a);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const plural = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }
  function shape(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }
  function number(value) {
    if (value === null || value === undefined) return "not finite";
    return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumSignificantDigits: 6 });
  }

  // Graphs: maps from the key of a pair to [x, y, kind]

  const result = new Map(view.edges.map(([x, y, kind]) => [key(x, y), [x, y, kind]]));
  const facts = new Map(view.edges.map((edge, index) => [key(edge[0], edge[1]), { edge, index }]));

  function startGraph() {
    const graph = new Map();
    if (view.start === "complete") {
      for (let x = 0; x < n; x++) for (let y = x + 1; y < n; y++) graph.set(key(x, y), [x, y, UNDIRECTED]);
    }
    return graph;
  }
  function apply(graph, change) {
    for (let k = 0; k < change.length; k += 3) {
      const [x, y, kind] = change.slice(k, k + 3);
      if (kind === NONE) graph.delete(key(x, y));
      else graph.set(key(x, y), [x, y, kind]);
    }
  }
  function graphAfter(step) {
    if (!hasReplay) return result;
    const graph = startGraph();
    for (let k = 0; k < step; k++) apply(graph, view.changes[k]);
    return graph;
  }
  function adjacency(graph) {
    const around = new Map();
    const at = (v) => {
      if (!around.has(v)) around.set(v, { parents: [], children: [], neighbors: [] });
      return around.get(v);
    };
    for (const [x, y, kind] of graph.values()) {
      if (kind === UNDIRECTED) { at(x).neighbors.push(y); at(y).neighbors.push(x); }
      else { at(x).children.push(y); at(y).parents.push(x); }
    }
    return around;
  }
  const ALONE = { parents: [], children: [], neighbors: [] };
  const degree = ({ parents, children, neighbors }) => parents.length + children.length + neighbors.length;

  const state = { frame: lastFrame, graph: result, around: adjacency(result), hidden: 0, node: null, edge: null };

  // Drawing

  const curves = new Map();
  for (const path of drawing.querySelectorAll("#lines .edge")) {
    const [x, y] = [Number(path.dataset.x), Number(path.dataset.y)];
    const reach = shape("path", { class: "reach", d: path.getAttribute("d") });
    path.before(reach);
    reach.addEventListener("click", () => choosePair(x, y));
    curves.set(key(x, y), { path, reach, x, y });
  }
  const extra = $("extra");
  const nodeBoxes = new Map();
  for (const box of drawing.querySelectorAll(".node")) register(box);

  function register(box) {
    const v = Number(box.dataset.v);
    nodeBoxes.set(v, box);
    box.addEventListener("click", () => { if (!moved) chooseNode(v); });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chooseNode(v); }
    });
  }
  function border(from, to) {
    const dx = to[0] - from[0], dy = to[1] - from[1];
    const scale = Math.min(
      dx ? from[2] / 2 / Math.abs(dx) : Infinity, dy ? from[3] / 2 / Math.abs(dy) : Infinity);
    return [from[0] + dx * Math.min(scale, 0.5), from[1] + dy * Math.min(scale, 0.5)];
  }
  const BENDS = [0, 0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1, -1, 1.3, -1.3, 1.6, -1.6, 2, -2, 2.4, -2.4, 3.4, -3.4];
  function line(x, y) {
    const [p, q] = [boxes.get(x), boxes.get(y)];
    if (isDrawn) return outline([border(p, q), border(q, p)]);
    // in a neighborhood, the flattest arc that runs through no box; outward arcs come first
    const others = [...boxes].filter(([v]) => v !== x && v !== y).map(([, other]) => other);
    const hub = boxes.get(state.node), length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
    const across = [(q[1] - p[1]) / length, (p[0] - q[0]) / length];
    const middle = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
    const away = (middle[0] - hub[0]) * across[0] + (middle[1] - hub[1]) * across[1] < 0 ? -1 : 1;
    const bend = away * Math.max(36, length / 5);
    let best = null, fewest = Infinity;
    for (const share of BENDS) {
      const top = [0, 1].map((k) => middle[k] + across[k] * bend * share);
      const points = share ? [border(p, top), top, border(q, top)] : [border(p, q), middle, border(q, p)];
      const hit = others.filter((other) => crosses(points, other)).length;
      if (hit < fewest) [best, fewest] = [points, hit];
      if (!hit) break;
    }
    return outline(best);
  }
  function outline(points) {
    const numbers = points.map((point) => point.map((c) => c.toFixed(1)).join(" "));
    return "M" + numbers[0] + (points.length === 3 ? "Q" : "L") + numbers.slice(1).join(" ");
  }
  function crosses([a, top, b], [x, y, w, h]) {
    for (let k = 1; k < 40; k++) {
      const t = k / 40, [at, bt] = [0, 1].map((c) => (1 - t) ** 2 * a[c] + 2 * t * (1 - t) * top[c] + t * t * b[c]);
      if (Math.abs(at - x) < w / 2 + 3 && Math.abs(bt - y) < h / 2 + 3) return true;
    }
    return false;
  }
  // By which number edges are weak: the share of replicates, the strength, or the gain
  const entry = (edge, column) => Array.isArray(edge[column]) ? edge[column][0] : edge[column];
  const ranks = (column) => view.edges.map((edge, index) => [entry(edge, column), index])
    .filter(([value]) => value !== null).sort((a, b) => a[0] - b[0]);
  const levelsOf = (column) => [...new Set(ranks(column).map(([value]) => value))];
  const measure = [6, 5, 3].find((column) => levelsOf(column).length > 1) || 3;
  const ranked = ranks(measure), levels = levelsOf(measure);
  let weak = new Set();

  function paint() {
    const fresh = new Set();
    if (hasReplay && state.frame > 0 && state.frame < lastFrame) {
      const change = view.changes[state.frame - 1];
      for (let k = 0; k < change.length; k += 3) fresh.add(key(change[k], change[k + 1]));
    }
    const near = nearNodes();
    const lit = (x, y) => state.edge !== null ? key(...state.edge) === key(x, y)
      : state.node !== null && (x === state.node || y === state.node);
    const classes = (x, y, kind, extraWords) => [
      "edge", kind === UNDIRECTED ? "undirected" : "directed", ...extraWords,
      ...(fresh.has(key(x, y)) ? ["new"] : []), ...(lit(x, y) ? ["hot"] : [])].join(" ");
    for (const [pair, curve] of curves) {
      const now = state.graph.get(pair);
      const isShown = now !== undefined && !(state.frame === lastFrame && weak.has(pair));
      curve.path.toggleAttribute("hidden", !isShown);
      curve.reach.toggleAttribute("hidden", !isShown);
      if (!isShown) continue;
      const [x, y, kind] = now;
      const isBackward = kind === DIRECTED && x !== curve.x;
      curve.path.setAttribute("class", classes(x, y, kind, isBackward ? ["backward"] : []));
      Object.assign(curve.path.dataset, { x, y, kind });
    }
    const others = [];
    if (isDrawn || state.node !== null) {
      for (const [pair, [x, y, kind]] of state.graph) {
        if (curves.has(pair) || !boxes.has(x) || !boxes.has(y)) continue;
        if (state.frame === lastFrame && weak.has(pair)) continue;
        const d = line(x, y);
        const reach = shape("path", { class: "reach", d });
        reach.addEventListener("click", () => choosePair(x, y));
        const words = isDrawn ? ["straight"] : [];
        others.push(reach, shape("path", {
          class: classes(x, y, kind, words), d, "data-x": x, "data-y": y, "data-kind": kind }));
      }
    }
    extra.replaceChildren(...others);
    drawing.classList.toggle("chosen", isDrawn && (state.node !== null || state.edge !== null));
    for (const [v, box] of nodeBoxes) {
      box.classList.toggle("near", near.has(v));
      box.classList.toggle("focus", v === state.node);
    }
    for (const row of document.querySelectorAll("#edge-table tbody tr")) {
      const [x, y] = view.edges[Number(row.dataset.e)];
      row.classList.toggle("hot", lit(x, y));
      row.classList.toggle("weak", weak.has(key(x, y)));
    }
    document.documentElement.dataset.step = state.frame;
  }
  function nearNodes() {
    if (state.edge !== null) return new Set(state.edge);
    if (state.node === null) return new Set();
    const { parents, children, neighbors } = state.around.get(state.node) || ALONE;
    return new Set([state.node, ...parents, ...children, ...neighbors]);
  }

  // A neighborhood of a graph that is too large to be drawn whole: parents above, children below

  const MOST_IN_NEIGHBORHOOD = 60;

  function drawNeighborhood() {
    const { parents, children, neighbors } = state.around.get(state.node) || ALONE;
    const short = (v) => names[v].length > 22 ? names[v].slice(0, 12) + "…" + names[v].slice(-8) : names[v];
    const width = (v) => 16 + 7.6 * Math.max(short(v).length, 3);
    boxes.clear();
    let y = 30;
    const length = (members) => members.reduce((sum, v) => sum + width(v) + 26, -26);
    // wide rows are farther from the middle, so that lines to them are not too flat
    const apart = (rows) => rows.length ? Math.min(Math.max(...rows.map(length)) / 6, 160) : 0;
    const [above, below] = [chunks(parents, width), chunks(children, width)];
    const putRow = (members) => {
      let x = 450 - length(members) / 2;
      for (const v of members) { boxes.set(v, [x + width(v) / 2, y, width(v), 26]); x += width(v) + 26; }
      y += 90;
    };
    above.forEach(putRow);
    y += apart(above);
    // undirected edges lead to columns on both sides, so that no line runs behind another box
    const beside = neighbors.slice(0, MOST_IN_NEIGHBORHOOD);
    const sides = [beside.slice(0, Math.ceil(beside.length / 2)), beside.slice(Math.ceil(beside.length / 2))];
    const height = 44 * Math.max(sides[0].length - 1, 0);
    const far = width(state.node) / 2 + 90;
    sides.forEach((column, k) => column.forEach((v, place) => boxes.set(v, [
      450 + (k ? 1 : -1) * (far + width(v) / 2), y + height / 2 + 44 * (place - (column.length - 1) / 2), width(v), 26])));
    boxes.set(state.node, [450, y + height / 2, width(state.node), 26]);
    y += height + 90 + apart(below);
    below.forEach(putRow);
    nodeBoxes.clear();
    $("nodes").replaceChildren(...[...boxes].map(([v, [x, top, w, h]]) => {
      const group = shape("g", { class: "node", "data-v": v, tabindex: 0, role: "button", "aria-label": names[v] });
      const label = shape("text", { x, y: top + 4.2 });
      label.textContent = short(v);
      const title = shape("title", {});
      title.textContent = names[v];
      group.append(title, shape("rect", { x: x - w / 2, y: top - h / 2, width: w, height: h, rx: 5 }), label);
      register(group);
      return group;
    }));
    const all = [...boxes.values()];
    const left = Math.min(...all.map((b) => b[0] - b[2] / 2)) - 20;
    const right = Math.max(...all.map((b) => b[0] + b[2] / 2)) + 20;
    sheet = { x: left, y: 0, w: Math.max(right - left, 300), h: Math.max(y - 40, 120) };
    fit();
  }
  function chunks(members, width) {
    const rows = [[]];
    let used = 0;
    for (const v of members.slice(0, MOST_IN_NEIGHBORHOOD)) {
      if (used && used + width(v) > 1100) { rows.push([]); used = 0; }
      rows[rows.length - 1].push(v);
      used += width(v) + 26;
    }
    return rows.filter((row) => row.length);
  }

  // Choosing

  function chooseNode(v, reveal) {
    state.node = v;
    state.edge = null;
    if (!isDrawn) drawNeighborhood();
    else if (reveal) bringIntoView([...nearNodes()], v);
    tellNode(v);
    paint();
  }
  function choosePair(x, y, reveal) {
    state.edge = [x, y];
    if (!isDrawn) { state.node = x; drawNeighborhood(); } else state.node = null;
    if (isDrawn && reveal) bringIntoView([x, y], x);
    tellPair(x, y);
    paint();
  }
  function chooseNothing() {
    state.edge = null;
    if (isDrawn) state.node = null;
    details.replaceChildren(
      element("h3", "Details"),
      element("p", "Choose a variable to see its neighborhood, or an edge to see why it is in the graph."));
    paint();
  }
  function button(text, choose, label) {
    const made = element("button", text, { type: "button", ...(label ? { "aria-label": label } : {}) });
    made.addEventListener("click", choose);
    return made;
  }
  const nameButton = (v) => button(names[v], () => chooseNode(v, true));
  function tellNode(v) {
    const { parents, children, neighbors } = state.around.get(v) || ALONE;
    const blanket = new Set([...parents, ...children, ...neighbors]);
    for (const child of children) for (const u of state.around.get(child).parents) if (u !== v) blanket.add(u);
    const parts = [element("h3", names[v])];
    const count = parents.length + children.length + neighbors.length;
    if (!count) parts.push(element("p", "This variable has no edges here."));
    for (const [title, members] of [
      ["Parents", parents], ["Children", children], ["Undirected edges", neighbors],
      ["Markov blanket: given these, it is independent of all others", [...blanket]]]) {
      if (!members.length) continue;
      parts.push(element("h4", title + " (" + members.length + ")"));
      const list = element("div", null, { class: "names" });
      list.append(...members.sort((a, b) => a - b).slice(0, 200).map(nameButton));
      parts.push(list);
    }
    if (count) {
      parts.push(element("h4", "Why these edges"));
      const list = element("div", null, { class: "names" });
      for (const u of [...parents, ...children, ...neighbors].slice(0, 200)) {
        list.append(button(pairInWords(state.graph, v, u), () => choosePair(v, u, true)));
      }
      parts.push(list);
    }
    details.replaceChildren(...parts);
  }
  function pairInWords(graph, a, b) {
    const edge = graph.get(key(a, b));
    if (edge === undefined) return "no edge between " + names[a] + " and " + names[b];
    return names[edge[0]] + (edge[2] === UNDIRECTED ? " — " : " → ") + names[edge[1]];
  }
  function operatorInWords(step) {
    const [, kind, x, y, setName, members] = step;
    return kind + "(" + names[x] + ", " + names[y] + ", " + setName + " = {" + members.map((v) => names[v]).join(", ") + "})";
  }
  function tellPair(a, b) {
    const parts = [element("h3", pairInWords(state.graph, a, b))];
    const known = facts.get(key(a, b));
    const now = result.get(key(a, b));
    const meaning = now === undefined ? "In the result these two are not adjacent."
      : now[2] === UNDIRECTED
        ? "Undirected: the data do not determine its direction, which differs between members of the class."
        : "Directed: it has this direction in every member of the class.";
    parts.push(element("p", meaning), element("h4", "Steps that changed this edge"));
    const list = element("ol");
    events(a, b).forEach((text) => list.append(element("li", text)));
    parts.push(list.childElementCount ? list : element("p", silence(now !== undefined)));
    if (known !== undefined) {
      parts.push(element("h4", "Evidence"));
      const [, , , gain, , strength, shares] = known.edge;
      if (shares !== null) {
        const [joined, forward, backward, undirected] = shares.map((share) => Math.round(share * view.replicates));
        const [source, target] = [names[known.edge[0]], names[known.edge[1]]];
        parts.push(element("p", "Of " + plural(view.replicates, "replicate") + " of the table, " + joined + " have an edge between the two: "
          + forward + " as " + source + " → " + target + ", " + backward + " as " + target + " → " + source + ", and "
          + undirected + " as an undirected edge."));
      }
      if (strength !== null) {
        const place = measure === 5 ? ranked.findIndex(([, index]) => index === known.index) + 1 : 0;
        parts.push(element("p", strength > 0
          ? "Without it, the score of one member of the class would fall by " + number(strength) + "."
          : "In the member of the class that was examined, the score would not fall without it: the evidence for this edge is weak."));
        if (place > 0) parts.push(element("p", "In order of strength it is number " + place + " of " + ranked.length + ", from the weakest."));
      } else if (gain !== null) {
        parts.push(element("p", "The step that inserted it raised the score by " + number(gain) + "; its strength in the result cannot be computed without the score."));
      } else parts.push(element("p", "No step inserted this edge itself, so its gain is not known."));
      if (now[2] === UNDIRECTED) parts.push(element("p", "The data do not favor either direction."));
    }
    const ends = element("div", null, { class: "names" });
    ends.append(nameButton(a), nameButton(b));
    parts.push(element("h4", "Its variables"), ends);
    details.replaceChildren(...parts);
  }
  function silence(isThere) {
    if (!view.steps.length) return "The steps of this search were not recorded.";
    return isThere ? "It was in the graph at the start, and no step removed it."
      : "It was never inserted: no insert of this edge was the best operator at any step.";
  }
  function events(a, b) {
    const told = [];
    const graph = hasReplay ? startGraph() : null;
    view.steps.forEach((step, k) => {
      const onPair = key(step[2], step[3]) === key(a, b);
      let after = "";
      if (graph !== null) {
        const before = pairInWords(graph, a, b);
        apply(graph, view.changes[k]);
        after = "; after this step: " + pairInWords(graph, a, b);
        if (!onPair && before === pairInWords(graph, a, b)) return;
      } else if (!onPair) return;
      told.push("step " + (k + 1) + " (" + view.phases[step[0]] + "): " + operatorInWords(step) +
        (onPair ? "" : ", elsewhere,") + " changed the score by " + number(step[6]) + after);
    });
    return told;
  }

  // Pan and zoom

  const whole = drawing.viewBox.baseVal;
  let sheet = { x: 0, y: 0, w: whole.width, h: whole.height };
  let box = { ...sheet };
  let moved = false;
  const SMALLEST_SCALE = 0.72, FARTHEST_SCALE = 0.45;

  function show() {
    drawing.setAttribute("viewBox", [box.x, box.y, box.w, box.h].map((c) => c.toFixed(2)).join(" "));
    showMap();
  }
  function fit() {
    box = { ...sheet };
    show();
  }
  function pixels() { return drawing.getBoundingClientRect(); }
  function readable() {
    const { width, height } = pixels();
    const scale = Math.min(width / sheet.w, height / sheet.h);
    if (!isDrawn || scale >= SMALLEST_SCALE || !width) return fit();
    box.w = width / SMALLEST_SCALE;
    box.h = height / SMALLEST_SCALE;
    let busiest = 0;
    for (const [v, around] of state.around) {
      if (degree(around) > degree(state.around.get(busiest) || ALONE)) busiest = v;
    }
    return centre(...boxes.get(busiest));
  }
  function hold() {
    box.x = box.w >= sheet.w ? sheet.x + (sheet.w - box.w) / 2 : clamp(box.x, sheet.x, sheet.x + sheet.w - box.w);
    box.y = box.h >= sheet.h ? sheet.y + (sheet.h - box.h) / 2 : clamp(box.y, sheet.y, sheet.y + sheet.h - box.h);
  }
  function centre(x, y) {
    box.x = x - box.w / 2;
    box.y = y - box.h / 2;
    hold();
    show();
  }
  function bringIntoView(members, first) {
    const { width, height } = pixels();
    const of = (pick, sign, side) => members.map((v) => boxes.get(v)).map((b) => b[pick] + sign * b[side] / 2);
    const [left, right] = [Math.min(...of(0, -1, 2)) - 20, Math.max(...of(0, 1, 2)) + 20];
    const [top, bottom] = [Math.min(...of(1, -1, 3)) - 20, Math.max(...of(1, 1, 3)) + 20];
    const fits = (scale) => (right - left) * scale <= width && (bottom - top) * scale <= height;
    const now = Math.min(width / box.w, height / box.h);
    const scale = [now < SMALLEST_SCALE ? 0.9 : now, SMALLEST_SCALE, FARTHEST_SCALE].find(fits);
    if (scale === undefined || scale !== now) {
      box.w = width / (scale || SMALLEST_SCALE);
      box.h = height / (scale || SMALLEST_SCALE);
    }
    if (scale === undefined) centre(...boxes.get(first));
    else centre((left + right) / 2, (top + bottom) / 2);
  }
  function zoom(factor, at) {
    const p = at || { x: box.x + box.w / 2, y: box.y + box.h / 2 };
    const smallest = 120 / Math.max(sheet.w, 1);
    const next = clamp(box.w * factor, sheet.w * Math.min(smallest, 1), Math.max(sheet.w * 1.5, 600)) / box.w;
    box = { x: p.x - (p.x - box.x) * next, y: p.y - (p.y - box.y) * next, w: box.w * next, h: box.h * next };
    show();
  }
  function pointAt(event) {
    const matrix = drawing.getScreenCTM();
    return matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()) : { x: 0, y: 0 };
  }
  const fingers = new Map();
  drawing.addEventListener("pointerdown", (event) => {
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, event);
  });
  window.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    drawing.classList.add("dragged");
    if (fingers.size === 2) {
      const [other] = [...fingers.values()].filter((f) => f.pointerId !== event.pointerId);
      const was = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY);
      const is = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
      if (was > 0 && is > 0) zoom(was / is, pointAt(other));
    } else {
      const matrix = drawing.getScreenCTM();
      box.x -= dx / matrix.a;
      box.y -= dy / matrix.d;
      show();
    }
    fingers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, (event) => { fingers.delete(event.pointerId); drawing.classList.remove("dragged"); });
  }
  drawing.addEventListener("click", (event) => { if (event.target === drawing && !moved) chooseNothing(); });
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // an ordinary wheel scrolls the page
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.002), pointAt(event));
  }, { passive: false });
  drawing.addEventListener("dblclick", (event) => zoom(0.6, pointAt(event)));
  drawing.addEventListener("keydown", (event) => {
    const pan = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (pan) { box.x += pan[0] * box.w * 0.1; box.y += pan[1] * box.h * 0.1; show(); }
    else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") chooseNothing();
    else return;
    event.preventDefault();
  });
  $("zoom-in").addEventListener("click", () => zoom(0.7));
  $("zoom-out").addEventListener("click", () => zoom(1 / 0.7));
  $("fit").addEventListener("click", fit);

  const map = $("map");
  let frame = null;
  function makeMap() {
    map.setAttribute("viewBox", [sheet.x, sheet.y, sheet.w, sheet.h].join(" "));
    frame = shape("rect", { class: "frame" });
    map.replaceChildren(...[...boxes.values()].map(([x, y, w, h]) =>
      shape("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h })), frame);
    map.addEventListener("click", (event) => {
      const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
      box.x = p.x - box.w / 2;
      box.y = p.y - box.h / 2;
      hold();
      show();
    });
  }
  function showMap() {
    if (frame === null) return;
    map.toggleAttribute("hidden", box.w > sheet.w * 0.8 && box.h > sheet.h * 0.8);
    for (const [name, value] of [["x", box.x], ["y", box.y], ["width", box.w], ["height", box.h]]) frame.setAttribute(name, value);
  }
  let kept = null;
  window.addEventListener("beforeprint", () => { kept = { ...box }; fit(); });
  window.addEventListener("afterprint", () => { if (kept) { box = kept; show(); } });

  // Find

  const find = $("find");
  $("names").append(...names.slice(0, 5000).map((name) => element("option", null, { value: name })));
  const numbers = new Map(names.map((name, v) => [name, v]));
  function look(isFinal) {
    const text = find.value.trim();
    if (!text) return;
    let v = numbers.get(text);
    if (v === undefined && isFinal) {
      const lower = text.toLowerCase();
      v = names.findIndex((name) => name.toLowerCase().startsWith(lower));
      if (v < 0) v = names.findIndex((name) => name.toLowerCase().includes(lower));
      if (v < 0) {
        details.replaceChildren(element("h3", "Not found"), element("p", "No variable has a name that contains “" + text + "”."));
        return;
      }
    }
    if (v !== undefined) chooseNode(v, true);
  }
  find.addEventListener("input", () => look(false));
  find.addEventListener("keydown", (event) => { if (event.key === "Enter") look(true); });

  // Weak edges

  const threshold = $("threshold"), thresholdSays = $("threshold-says");
  function hideWeak() {
    const highest = levels[Number(threshold.value) - 1];
    const hidden = highest === undefined ? [] : ranked.filter(([value]) => value <= highest);
    weak = new Set(hidden.map(([, index]) => key(view.edges[index][0], view.edges[index][1])));
    const said = hidden.length
      ? plural(hidden.length, "edge") + " hidden: " + { 3: "gain", 5: "strength", 6: "share" }[measure] + " up to " + number(highest)
      : "none hidden";
    thresholdSays.textContent = said;
    threshold.setAttribute("aria-valuetext", said);
    paint();
  }
  if (levels.length > 1) {
    $("threshold-group").hidden = false;
    threshold.max = levels.length;
    threshold.addEventListener("input", hideWeak);
  }

  // The table of edges

  const table = $("edge-table");
  if (table) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const isNumber = head.classList.contains("number");
        const field = { gain: 3, step: 4, strength: 5, share: 6 }[button.textContent];
        const value = (row) => isNumber ? entry(view.edges[Number(row.dataset.e)], field) : row.cells[column].textContent;
        const rows = [...body.rows].sort((a, b) => {
          const [p, q] = [value(a), value(b)];
          if (p === null || q === null) return (p === null) - (q === null);
          return (isNumber ? p - q : p.localeCompare(q, "en", { numeric: true })) * (up ? 1 : -1);
        });
        body.append(...rows);
      });
    });
    for (const row of body.rows) {
      const [x, y] = view.edges[Number(row.dataset.e)];
      const seen = (choose) => () => { choose(); $("picture").scrollIntoView({ block: "nearest" }); };
      const why = "Why: " + pairInWords(result, x, y);
      row.cells[1].replaceChildren(button(row.cells[1].textContent, seen(() => choosePair(x, y, true)), why));
      for (const [cell, v] of [[0, x], [2, y]]) row.cells[cell].replaceChildren(button(names[v], seen(() => chooseNode(v, true))));
    }
  }

  // The replay

  const slider = $("step");
  let timer = null;
  function go(step) {
    const target = clamp(step, 0, lastFrame);
    state.frame = target;
    if (hasReplay) {
      state.graph = target === lastFrame ? result : graphAfter(target);
      state.around = adjacency(state.graph);
    }
    slider.value = target;
    tellStep(target);
    if (!isDrawn && state.node !== null) drawNeighborhood();
    if (state.edge !== null) tellPair(...state.edge);
    else if (state.node !== null) tellNode(state.node);
    paint();
  }
  function tellStep(k) {
    $("step-number").textContent = k > lastStep ? "result" : k + " of " + lastStep;
    const here = $("here");
    if (here) here.setAttribute("d", "M" + (1000 * Math.min(k, lastStep) / lastStep).toFixed(1) + " 0V100");
    const said = $("step-says");
    if (k > lastStep) said.textContent = "The result: background knowledge directs more edges than the last step did.";
    else if (k === 0) said.textContent = view.start === "complete" ? "The start: the complete graph." : "The start: the graph without edges.";
    else {
      const step = view.steps[k - 1];
      said.textContent = view.phases[step[0]] + ": " + operatorInWords(step) + " changes the score by " +
        number(step[6]) + " to " + number(step[7]) + "; " + plural(step[8], "edge") + ".";
    }
    slider.setAttribute("aria-valuetext", said.textContent);
  }
  function phases() {
    const bar = element("div", null, { class: "phases", "aria-hidden": "true" });
    let from = 0;
    view.steps.forEach((step, k) => {
      if (k < lastStep - 1 && view.steps[k + 1][0] === step[0]) return;
      const part = element("span", view.phases[step[0]], { title: view.phases[step[0]] + ": steps " + (from + 1) + " to " + (k + 1) });
      part.style.flexGrow = k + 1 - from;
      bar.append(part);
      from = k + 1;
    });
    return bar;
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    $("play").textContent = "▶ Play";
    $("play").setAttribute("aria-label", "Play");
  }
  function play() {
    if (timer !== null) return stop();
    if (state.frame === lastFrame) go(0);
    $("play").textContent = "⏸ Stop";
    $("play").setAttribute("aria-label", "Stop");
    timer = setInterval(() => {
      if (state.frame >= lastFrame) stop();
      else go(state.frame + 1);
    }, clamp(8000 / Math.max(lastFrame, 1), 60, 700));
    return undefined;
  }
  if (lastStep) {
    $("replay").hidden = false;
    slider.max = lastFrame;
    if (!hasReplay) {
      $("replay-note").textContent = "The graph from which the search started is not recorded, so the picture always shows the result; the steps can be read one by one.";
    } else $("replay-note").hidden = true;
    slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
    const jumps = { first: () => 0, back: () => state.frame - 1, next: () => state.frame + 1, last: () => lastFrame };
    for (const [id, where] of Object.entries(jumps)) $(id).addEventListener("click", () => { stop(); go(where()); });
    $("play").addEventListener("click", play);
    const curve = $("curve");
    if (curve) curve.after(phases());
    if (curve) curve.addEventListener("click", (event) => {
      const { left, width } = curve.getBoundingClientRect();
      stop();
      go(Math.round((event.clientX - left) / width * lastStep));
    });
    const steps = $("steps");
    steps.addEventListener("toggle", () => {
      const place = steps.querySelector(".scroll");
      if (!steps.open || place.childElementCount) return;
      const made = element("table");
      const head = made.createTHead().insertRow();
      for (const title of ["step", "phase", "operator", "gain", "score", "edges"]) head.append(element("th", title, { scope: "col" }));
      const body = made.createTBody();
      view.steps.forEach((step, k) => {
        const row = body.insertRow();
        row.insertCell().append(button(k + 1, () => { stop(); go(k + 1); }, "Go to step " + (k + 1)));
        for (const text of [view.phases[step[0]], operatorInWords(step), number(step[6]), number(step[7]), step[8]]) row.insertCell().textContent = text;
      });
      place.append(made);
    });
  }

  // Light and dark

  const theme = $("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
  function nameTheme() { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", "Switch to " + theme.textContent.toLowerCase() + " colours"); }
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });

  // Begin

  theme.hidden = false;
  $("tools").hidden = n === 0;
  if (!isDrawn) { $("fit").textContent = "Whole neighborhood"; $("fit").title = "Show the whole neighborhood (0)"; }
  nameTheme();
  hideWeak();
  if (lastStep) go(lastFrame);
  if (isDrawn) { makeMap(); readable(); }
  else if (n) {
    const degrees = [...state.around].map(([v, around]) => [degree(around), v]);
    chooseNode(degrees.length ? degrees.reduce((best, d) => (d[0] > best[0] ? d : best))[1] : 0);
  }
  window.sgesReport = { go, edges: () => [...state.graph.values()] };
})();
