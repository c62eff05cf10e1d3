/* Draws an entity with its neighbours; selecting a neighbour adds its neighbours. One unit is one pixel, so that
   labels keep their size on a phone. No two labels overlap: boxes are pushed apart, and a relation that finds no
   free place goes without a label (its tooltip and the list have it). */
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const TICKS = 260;
  const LABEL_HEIGHT = 16;
  const COLOURS = 6;
  const EDGE = 8;

  const make = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const overlap = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  const overlaps = (a, b) => overlap(a, b).every((each) => each > 0);
  const box = (node) => ({ left: node.x - node.half, right: node.x + node.half, top: node.y - node.radius - 5, bottom: node.y + node.radius + LABEL_HEIGHT + 9 });

  /* Pushes overlapping boxes apart along the shorter way; returns whether any overlapped. */
  function separate(nodes, limit) {
    let moved = false;
    nodes.forEach((one, place) => {
      for (const other of nodes.slice(place + 1)) {
        const [wide, high] = overlap(box(one), box(other));
        if (wide <= 0 || high <= 0) continue;
        moved = true;
        const axis = wide < high ? "x" : "y", push = (Math.min(wide, high) + 1) / 2;
        const sign = one[axis] < other[axis] ? -1 : 1;
        if (one.fx === undefined) one[axis] += sign * push;
        if (other.fx === undefined) other[axis] -= sign * push;
      }
    });
    for (const node of nodes) node.x = Math.max(node.half - limit, Math.min(limit - node.half, node.x));
    return moved;
  }

  /* What is left after many passes moves below the boxes that it overlaps, from top to bottom. */
  function stack(nodes) {
    const done = [];
    for (const node of [...nodes].sort((a, b) => a.y - b.y)) {
      for (let hit; (hit = done.find((each) => overlaps(box(node), box(each))));) node.y = box(hit).bottom + node.radius + 6;
      done.push(node);
    }
  }

  function begin() {
    const svg = document.querySelector("#drawing");
    const source = document.querySelector("#graph-data");
    if (!svg || !source || svg.dataset.drawn || !window.d3?.forceSimulation) return;
    svg.dataset.drawn = "yes";
    svg.removeAttribute("hidden");
    document.querySelector("#graph-help").hidden = false;
    const arrow = svg.querySelector("defs");
    const nodes = new Map(), links = new Map(), types = [];
    let chosen, width;

    function add(graph, beside) {
      for (const node of graph.nodes) {
        if (nodes.has(node.id)) continue;
        const angle = 2.4 * nodes.size;
        nodes.set(node.id, { ...node, x: (beside?.x ?? 0) + 60 * Math.cos(angle), y: (beside?.y ?? 0) + 60 * Math.sin(angle) });
        if (!types.includes(node.type)) types.push(node.type);
      }
      for (const link of graph.links) if (!links.has(link.id)) links.set(link.id, { ...link });
      layOut();
    }

    function textWidth(text, css) {
      const probe = make("text", { class: css }, text);
      svg.append(probe);
      const found = probe.getComputedTextLength();
      probe.remove();
      return found;
    }

    function layOut() {
      width = svg.clientWidth;
      const all = [...nodes.values()], limit = width / 2 - EDGE;
      for (const node of all) {
        const degree = [...links.values()].filter((each) => each.source === node.id || each.target === node.id).length;
        node.radius = node.distance === 0 && node.id === start.center ? 17 : Math.min(15, 8 + degree);
        node.half = Math.min(limit, Math.max(textWidth(node.label, node.id === start.center ? "center" : ""), 2 * node.radius) / 2 + 7);
      }
      const center = nodes.get(start.center);
      center.fx = center.fy = 0;
      const reach = Math.max(90, Math.min(190, width / 5));
      d3.forceSimulation(all)
        .force("link", d3.forceLink([...links.values()].map((each) => ({ source: each.source, target: each.target }))).id((each) => each.id).distance(reach))
        .force("charge", d3.forceManyBody().strength(-700))
        .force("x", d3.forceX().strength(width < 600 ? .12 : .03)).force("y", d3.forceY().strength(width < 600 ? .04 : .12))
        .force("boxes", () => separate(all, limit))
        .stop().tick(TICKS);
      for (let pass = 0; pass < 200 && separate(all, limit); pass++);
      stack(all);
      // The entity in the middle may be at the edge of what was drawn, so centre the whole.
      const boxes = all.map(box), shift = (Math.min(...boxes.map((each) => each.left)) + Math.max(...boxes.map((each) => each.right))) / 2;
      for (const node of all) node.x -= shift;
      draw(all);
    }

    function draw(all) {
      const boxes = all.map(box);
      const top = Math.min(...boxes.map((each) => each.top)) - EDGE, bottom = Math.max(...boxes.map((each) => each.bottom)) + EDGE;
      svg.setAttribute("viewBox", [-width / 2, top, width, bottom - top].map(Math.round).join(" "));
      svg.setAttribute("height", Math.round(bottom - top));
      const lines = [], labels = [];
      for (const link of links.values()) {
        const from = nodes.get(link.source), to = nodes.get(link.target);
        if (!from || !to || from === to) continue;
        const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
        const at = (distance) => [from.x + (to.x - from.x) * distance / length, from.y + (to.y - from.y) * distance / length];
        const [x1, y1] = at(from.radius + 2), [x2, y2] = at(length - to.radius - 4);
        const line = make("line", { x1, y1, x2, y2, "marker-end": "url(#arrow)" });
        line.append(make("title", {}, `${from.name} ${link.type} ${to.name}${link.span ? `, ${link.span}` : ""}`));
        lines.push(line);
        const half = textWidth(link.type, "relation") / 2 + 3;
        for (const share of [.5, .42, .58, .34, .66, .26, .74]) {
          const [x, y] = at(length * share);
          const place = { left: x - half, right: x + half, top: y - 8, bottom: y + 8 };
          if (boxes.some((each) => overlaps(place, each)) || place.left < -width / 2 || place.right > width / 2) continue;
          boxes.push(place);
          labels.push(make("text", { x, y: y + 4, "text-anchor": "middle", class: "relation" }, link.type));
          break;
        }
      }
      const anchors = all.map((node) => {
        const css = `t${Math.min(types.indexOf(node.type), COLOURS)}`, isOpen = node.expanded || node.id === start.center;
        const anchor = make("a", { href: node.graph, "data-node": node.id, "aria-label": `${node.name}, ${node.type}`, class: css });
        anchor.append(
          make("title", {}, `${node.name} (${node.type})`),
          make("rect", { x: node.x - node.half, y: node.y - node.radius, width: 2 * node.half, height: 2 * node.radius + LABEL_HEIGHT + 4, class: "target" }),
          make("circle", { cx: node.x, cy: node.y, r: node.radius, class: isOpen ? "open" : "" }),
          make("text", { x: node.x, y: node.y + node.radius + LABEL_HEIGHT, "text-anchor": "middle", class: node.id === start.center ? "center" : "" }, node.label),
        );
        return anchor;
      });
      svg.replaceChildren(arrow, ...lines, ...labels, ...anchors);
      document.querySelector("#legend").replaceChildren(...types.slice(0, COLOURS).map((type, place) => {
        const item = document.createElement("li");
        item.className = `t${place}`;
        item.textContent = type;
        return item;
      }));
      if (chosen) svg.querySelector(`[data-node="${chosen}"]`)?.focus();
    }

    svg.addEventListener("click", async (event) => {
      const anchor = event.target.closest("[data-node]");
      if (!anchor || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const node = nodes.get(Number(anchor.dataset.node));
      chosen = node.id;
      const url = new URL(start.data, location.href);
      url.searchParams.set("name", node.name);
      const answer = await fetch(url, { headers: { accept: "application/json" } });
      if (!answer.ok) { location.assign(node.graph); return; }
      node.expanded = true;
      add(await answer.json(), node);
      describe(node);
    });

    function describe(node) {
      const panel = document.querySelector("#chosen");
      const heading = document.createElement("h2"), open = document.createElement("a"), center = document.createElement("a"), about = document.createElement("p"), go = document.createElement("p");
      open.href = node.memory; open.textContent = node.name; heading.append(open);
      about.textContent = `${node.type} · ${node.known} ${node.known === 1 ? "observation" : "observations"}`; about.className = "soft";
      center.href = node.graph; center.textContent = "Put it in the middle"; go.append(center);
      panel.replaceChildren(heading, about, go);
    }

    const start = JSON.parse(source.textContent);
    add(start);
    new ResizeObserver(() => { if (Math.abs(svg.clientWidth - width) > 30) layOut(); }).observe(svg);
  }

  document.addEventListener("DOMContentLoaded", begin);
  document.addEventListener("htmx:afterSettle", begin);
  if (document.readyState !== "loading") begin();
})();
