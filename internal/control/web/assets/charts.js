// Charts: what a figure's data-chart says, drawn by uPlot. The same stands below it as a table.
"use strict";

(() => {
  const drawn = new WeakMap(); // figure → {text, plot}
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const dayForm = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
  const hourForm = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
  const wholeForm = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false });

  // stacked are sums from the bottom up, the highest first: each is drawn over the one behind it.
  function stacked(chart) {
    const sums = [];
    let below = chart.x.map(() => 0);
    for (const values of chart.values) {
      below = below.map((n, i) => n + (values[i] || 0));
      sums.unshift(below);
    }
    return [chart.x, ...sums];
  }

  function data(chart) {
    return chart.kind === "bars" ? stacked(chart) : [chart.x, ...chart.values];
  }

  const looks = {
    bars: (tone) => ({ fill: tone, stroke: tone, width: 0, paths: uPlot.paths.bars({ size: [0.72, 28], radius: 0.12 }), points: { show: false } }),
    line: (tone) => ({ stroke: tone, width: 2, spanGaps: true, points: { show: true, size: 6, fill: colour("card") } }),
    steps: (tone) => ({ stroke: tone, width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }),
  };

  function series(chart) {
    const lines = chart.series.map((s) => looks[chart.kind](colour(s.tone)));
    if (chart.kind === "bars") lines.reverse();
    return [{}, ...lines];
  }

  // amount is a value with its unit.
  function amount(chart, value) {
    if (chart.unit === "$") return "$" + value.toFixed(value < 10 ? 2 : 0);
    return chart.unit ? value + " " + chart.unit : String(value);
  }

  function axes(chart) {
    const daily = chart.x[chart.x.length - 1] - chart.x[0] > 36 * 3600;
    const times = (_, at) => at.map((x) => (daily ? dayForm : hourForm).format(new Date(x * 1000))).map((text, i, all) => (text === all[i - 1] ? "" : text));
    const sums = chart.unit === "$" ? { values: (_, at) => at.map((v) => amount(chart, v)), size: 52 } : { size: 40 };
    const common = { stroke: colour("muted"), font: "12px system-ui, sans-serif", ticks: { show: false } };
    return [
      { ...common, grid: { show: false }, size: 28, gap: 6, space: 64, values: times },
      { ...common, grid: { stroke: colour("soft-line"), width: 1 }, gap: 4, space: 36, ...sums },
    ];
  }

  // words is what a part of the chart says.
  function words(chart, i) {
    const parts = chart.series
      .map((s, k) => ({ name: s.name, value: chart.values[k][i] }))
      .filter((p) => p.value)
      .map((p) => `${amount(chart, p.value)} ${p.name}`);
    return wholeForm.format(new Date(chart.x[i] * 1000)) + ": " + (parts.join(", ") || "nothing");
  }

  function make(figure, text) {
    const chart = JSON.parse(text);
    const box = figure.querySelector(".canvas");
    const at = figure.querySelector(".at");
    if (!box) return null;
    box.replaceChildren();
    const half = chart.step / 2;
    const plot = new uPlot({
      width: box.clientWidth, height: 180, padding: [8, 8, 0, 0], legend: { show: false }, cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: true, range: () => [chart.x[0] - half, Math.max(chart.x[chart.x.length - 1] + half, chart.x[0] + 1)] },
        y: { range: (u, min, max) => [0, Math.max(chart.unit === "$" ? 0.01 : 1, max * 1.1)] },
      },
      series: series(chart), axes: axes(chart),
      hooks: { setCursor: [(u) => { if (at) at.textContent = u.cursor.idx == null ? "" : words(chart, u.cursor.idx); }] },
    }, data(chart), box);
    return plot;
  }

  function draw(again) {
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      const text = figure.dataset.chart;
      const have = drawn.get(figure);
      if (have && have.text === text && !again) continue;
      if (have && have.plot) have.plot.destroy();
      drawn.set(figure, { text, plot: make(figure, text) });
    }
  }

  document.addEventListener("stopgate:drawn", () => draw(false));
  dark.addEventListener("change", () => draw(true));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width !== innerWidth) draw(true);
    width = innerWidth;
  });
  draw(false);
})();
