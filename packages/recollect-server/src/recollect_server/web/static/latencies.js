/* Draws the latencies that the table beside it lists, in the colours of the page. */
(() => {
  "use strict";

  function draw(place) {
    const { at, median, p95 } = JSON.parse(document.getElementById(place.dataset.latencies).textContent);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const line = (label, name, dash) => ({ label, stroke: colour(name), width: 2, dash, points: { show: at.length < 120, size: 6, fill: colour(name) } });
    const time = (at) => new Date(1000 * at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    place.replaceChildren();
    return new uPlot({
      width: place.clientWidth, height: 240,
      series: [{ label: "Minute", value: (_, at) => (at == null ? "–" : time(at)) }, line("half of the calls within, ms", "--accent"), line("95 % within, ms", "--warn", [6, 4])],
      axes: [{ ...axis, values: (_, all) => all.map(time) }, { ...axis, size: 60, values: (_, all) => all.map((each) => `${each} ms`) }],
      // An hour at least: uPlot draws a single minute as years.
      scales: { x: { range: () => [Math.min(at[0], at.at(-1) - 3600), at.at(-1) + 60] }, y: { range: (_, low, high) => [0, high * 1.1 || 1] } },
      legend: { live: true },
    }, [at, median, p95], place);
  }

  document.querySelectorAll("[data-latencies]").forEach((place) => {
    let chart = draw(place);
    new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 240 })).observe(place.parentElement);
    const again = () => { chart.destroy(); chart = draw(place); };
    new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  });
})();
