/* Draws an entity and what is around it, and lets it grow where one clicks. */
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const TICKS = 220;

  const make = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  function begin() {
    const svg = document.querySelector("#drawing");
    const source = document.querySelector("#graph-data");
    if (!svg || !source || svg.dataset.drawn || !window.d3?.forceSimulation) return;
    svg.dataset.drawn = "yes";
    svg.removeAttribute("hidden");
    document.querySelector("#graph-help").hidden = false;
    const nodes = new Map(), links = new Map();
    let chosen;

    function add(graph) {
      for (const node of graph.nodes) if (!nodes.has(node.id)) nodes.set(node.id, { ...node });
      for (const link of graph.links) if (!links.has(link.id)) links.set(link.id, { ...link });
      layOut();
    }

    function layOut() {
      const placed = [...nodes.values()];
      d3.forceSimulation(placed)
        .force("link", d3.forceLink([...links.values()].map((each) => ({ source: each.source, target: each.target }))).id((each) => each.id).distance(110))
        .force("charge", d3.forceManyBody().strength(-420))
        .force("collide", d3.forceCollide(34))
        .force("x", d3.forceX().strength(.05)).force("y", d3.forceY().strength(.08))
        .stop().tick(TICKS);
      draw(placed);
    }

    function draw(placed) {
      const xs = placed.map((each) => each.x), ys = placed.map((each) => each.y);
      const left = Math.min(...xs) - 90, top = Math.min(...ys) - 40;
      const width = Math.max(420, Math.max(...xs) - left + 90), height = Math.max(280, Math.max(...ys) - top + 50);
      svg.setAttribute("viewBox", [left, top, width, height].map(Math.round).join(" "));
      const drawn = [];
      for (const link of links.values()) {
        const from = nodes.get(link.source), to = nodes.get(link.target);
        if (!from || !to) continue;
        drawn.push(make("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
        const label = make("text", { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - 4, "text-anchor": "middle", class: "relation" }, link.span ? `${link.type} (${link.span})` : link.type);
        drawn.push(label);
      }
      for (const node of placed) {
        const anchor = make("a", { href: node.graph, "data-node": node.id, "aria-label": `${node.name}, ${node.type}` });
        anchor.append(
          make("title", {}, `${node.name} (${node.type})`),
          make("circle", { cx: node.x, cy: node.y, r: node.distance === 0 ? 15 : 11, class: node.expanded || node.distance === 0 ? "open" : "" }),
          make("text", { x: node.x, y: node.y + 28, "text-anchor": "middle" }, node.label),
        );
        drawn.push(anchor);
      }
      svg.replaceChildren(...drawn);
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
      add(await answer.json());
      tell(node);
    });

    function tell(node) {
      const panel = document.querySelector("#chosen");
      const heading = document.createElement("h2"), open = document.createElement("a"), center = document.createElement("a"), about = document.createElement("p"), go = document.createElement("p");
      open.href = node.memory; open.textContent = node.name; heading.append(open);
      about.textContent = `${node.type} · ${node.known} observations`; about.className = "soft";
      center.href = node.graph; center.textContent = "Begin from here"; go.append(center);
      panel.replaceChildren(heading, about, go);
    }

    const start = JSON.parse(source.textContent);
    add(start);
  }

  document.addEventListener("DOMContentLoaded", begin);
  document.addEventListener("htmx:afterSettle", begin);
  if (document.readyState !== "loading") begin();
})();
