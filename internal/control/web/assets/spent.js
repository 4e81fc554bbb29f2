// What a session has spent over time, as a chart. The page has the same numbers as a table.
"use strict";

(() => {
  let chart = null;
  let drawn = "";

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dollars = (v) => v == null ? "" : "$" + v.toFixed(v < 10 ? 2 : 0);

  function options(place) {
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--soft-line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    return {
      width: place.clientWidth, height: place.clientHeight, padding: [12, 18, 0, 0],
      cursor: { y: false, points: { size: 6 } },
      legend: { show: false },
      scales: { x: { time: true }, y: { range: (u, min, max) => [0, Math.max(max * 1.1, 0.01)] } },
      axes: [{ ...axis, space: 70 }, { ...axis, size: 52, values: (u, all) => all.map(dollars) }],
      series: [
        {},
        { label: "agent", stroke: colour("--accent"), fill: colour("--busy-ground"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } },
        { label: "reviews", stroke: colour("--warn"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } },
      ],
    };
  }

  function draw() {
    const place = document.getElementById("spent-plot");
    const data = place && place.parentNode.dataset.spent;
    if (!data || !window.uPlot || (chart && drawn === data && chart.root.parentNode === place)) return;
    if (chart) chart.destroy();
    drawn = data;
    chart = new uPlot(options(place), JSON.parse(drawn), place);
  }

  // The plot itself stays when the page is drawn again; the numbers around it do not.
  document.addEventListener("stopgate:drawn", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawn = ""; draw(); });
  addEventListener("resize", () => {
    const place = document.getElementById("spent-plot");
    if (chart && place) chart.setSize({ width: place.clientWidth, height: place.clientHeight });
  });
  draw();
})();
