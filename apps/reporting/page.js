// SPDX-License-Identifier: BSD-3-Clause
"use strict";
// Makes the page interactive: tables can be sorted and filtered, and Chart.js draws the plots. Without scripts, and in
// print, the page shows its static pictures and tables.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const hidden = new Set(); // numbers of the runs that are not shown
  const listeners = []; // called when `hidden` changes
  const charts = [];

  // Tables ----------------------------------------------------------------------------------------------

  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent;
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  };

  // Numbers come before words, words in alphabetical order, and empty cells last in either direction.
  const compare = (a, b, sign) => {
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  };

  function sortBy(table, column) {
    const head = table.tHead.rows[0].cells[column];
    const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(key(a, column), key(b, column), sign));
    table.tBodies[0].append(...rows);
  }

  // A word must occur in the row; COLUMN<NUMBER, >, <=, >=, =TEXT compare the column whose heading begins with COLUMN.
  function test(table, word) {
    const match = word.match(/^([^<>=]+)(<=|>=|=|<|>)(.+)$/);
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim().toLowerCase());
    const column = match ? heads.findIndex((head) => head.includes(match[1])) : -1;
    if (column < 0) return (row) => row.textContent.toLowerCase().includes(word);
    const [, , sign, text] = match;
    const wanted = Number.isNaN(Number(text)) ? text : Number(text);
    return (row) => {
      const found = key(row, column);
      if (sign === "=") return typeof wanted === "number" ? found === wanted : String(found).toLowerCase() === wanted;
      if (typeof found !== "number") return false;
      return { "<": found < wanted, ">": found > wanted, "<=": found <= wanted, ">=": found >= wanted }[sign];
    };
  }

  function filter(table, text, count) {
    const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => test(table, word));
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      row.hidden = !tests.every((passes) => passes(row));
      if (row.dataset.run !== undefined) hidden[row.hidden ? "add" : "delete"](Number(row.dataset.run));
    }
    const left = rows.filter((row) => !row.hidden).length;
    count.textContent = left === rows.length ? `${left} rows` : `${left} of ${rows.length} rows`;
    changed();
  }

  function enliven(table) {
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortBy(table, column));
      head.append(button);
    }
    const controls = document.getElementById(`${table.id}-controls`);
    const [input, count] = [controls.querySelector("input"), controls.querySelector("output")];
    input.addEventListener("input", () => filter(table, input.value, count));
    filter(table, input.value, count);
  }

  // Plots -----------------------------------------------------------------------------------------------

  const changed = () => listeners.forEach((listener) => listener());

  function number(value) {
    return value === null ? "not computed" : String(Number(value.toPrecision(3))).replace("e+", "e");
  }

  function power(value) {
    const exponent = Math.log10(value);
    if (Math.abs(exponent - Math.round(exponent)) > 1e-9) return "";
    return "10" + String(Math.round(exponent)).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  }

  const levels = {
    id: "levels", // dotted lines at the requested tolerances
    afterDatasetsDraw(chart, _, options) {
      const { ctx, chartArea: area, scales } = chart;
      for (const level of options.at ?? []) {
        const y = scales.y.getPixelForValue(level);
        if (y < area.top || y > area.bottom) continue;
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = Chart.defaults.color;
        ctx.setLineDash([3, 3]);
        ctx.beginPath();
        ctx.moveTo(area.left, y);
        ctx.lineTo(area.right, y);
        ctx.stroke();
        ctx.setLineDash([]);
        ctx.lineWidth = 4;
        ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--page");
        ctx.strokeText(`rtol ${level}`, area.left + 4, y - 4);
        ctx.fillText(`rtol ${level}`, area.left + 4, y - 4);
        ctx.restore();
      }
    },
  };

  function axis(title, logarithmic) {
    const scale = { title: { display: true, text: title }, grid: { color: "rgba(128,128,128,.22)" } };
    if (!logarithmic) return { ...scale, type: "linear", beginAtZero: true };
    const round = (value) => [1, 2, 5].includes(Number(value.toExponential().split("e")[0]));
    return { ...scale, type: "logarithmic", ticks: { callback: (value) => (round(value) ? number(value) : "") } };
  }

  const selection = {
    id: "selection", // the part that is being dragged over
    afterDraw(chart) {
      if (!chart.dragged) return;
      const { ctx, chartArea: area } = chart;
      const [from, to] = chart.dragged;
      ctx.save();
      ctx.globalAlpha = 0.18;
      ctx.fillStyle = Chart.defaults.color;
      ctx.fillRect(Math.min(from, to), area.top, Math.abs(to - from), area.bottom - area.top);
      ctx.restore();
    },
  };

  // Dragging over a part of a plot zooms in on it, + and - zoom about the point in focus, and Escape shows all again.
  function zoom(chart) {
    const show = (from, to) => {
      Object.assign(chart.options.scales.x, { min: from, max: to });
      chart.update("none");
    };
    const place = (event) => {
      const x = event.clientX - chart.canvas.getBoundingClientRect().left;
      return Math.min(Math.max(x, chart.chartArea.left), chart.chartArea.right);
    };
    chart.canvas.addEventListener("pointerdown", (event) => {
      chart.dragged = [place(event), place(event)];
      chart.canvas.setPointerCapture(event.pointerId);
    });
    chart.canvas.addEventListener("pointermove", (event) => {
      if (!chart.dragged) return;
      chart.dragged[1] = place(event);
      chart.draw();
    });
    chart.canvas.addEventListener("pointerup", () => {
      const ends = (chart.dragged ?? []).sort((a, b) => a - b);
      chart.dragged = null;
      if (ends[1] - ends[0] > 8) show(...ends.map((x) => chart.scales.x.getValueForPixel(x)));
      else chart.draw();
    });
    chart.canvas.addEventListener("dblclick", () => show(undefined, undefined));
    chart.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return show(undefined, undefined);
      if (event.key !== "+" && event.key !== "-") return undefined;
      const { min, max } = chart.scales.x;
      const [active] = chart.getActiveElements();
      const middle = active ? chart.data.datasets[active.datasetIndex].data[active.index].x : (min + max) / 2;
      const half = ((max - min) / 2) * (event.key === "+" ? 0.5 : 2);
      return show(Math.max(chart.scales.x.type === "logarithmic" ? min / 2 : 0, middle - half), middle + half);
    });
  }

  // Arrow keys move along the points of a curve and from curve to curve; the point is shown and read out.
  function walk(chart, spoken) {
    let [curve, point] = [0, -1];
    const shown = () => chart.getSortedVisibleDatasetMetas().map((meta) => meta.index)
      .filter((index) => chart.data.datasets[index].walk !== false).sort((a, b) => a - b);
    chart.canvas.addEventListener("keydown", (event) => {
      const curves = shown();
      if (!curves.length) return;
      if (!curves.includes(curve)) curve = curves[0];
      const last = () => chart.data.datasets[curve].data.length - 1;
      const turn = (by) => curves[(curves.indexOf(curve) + by + curves.length) % curves.length];
      const moves = {
        ArrowRight: () => { do point = Math.min(point + 1, last()); while (gap() && point < last()); },
        ArrowLeft: () => { do point = Math.max(point - 1, 0); while (gap() && point > 0); },
        ArrowDown: () => { curve = turn(1); point = Math.min(Math.max(point, 0), last()); },
        ArrowUp: () => { curve = turn(-1); point = Math.min(Math.max(point, 0), last()); },
        Home: () => { point = 0; },
        End: () => { point = last(); },
      };
      const gap = () => chart.data.datasets[curve].data[point].y === null;
      if (!moves[event.key]) return;
      event.preventDefault();
      moves[event.key]();
      const active = [{ datasetIndex: curve, index: point }];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
      chart.update("none");
      spoken.textContent = [chart.tooltip.title, ...chart.tooltip.body.map((part) => part.lines)].flat().join(", ");
    });
    chart.canvas.addEventListener("blur", () => {
      chart.setActiveElements([]);
      chart.tooltip.setActiveElements([], { x: 0, y: 0 });
      chart.update("none");
    });
  }

  function plot(id, datasets, scales, lines, at) {
    const canvas = document.getElementById(id);
    const chart = new Chart(canvas, {
      type: "line",
      data: { datasets },
      plugins: [levels, selection],
      options: {
        animation: false,
        maintainAspectRatio: false,
        parsing: false,
        normalized: true,
        interaction: { mode: "nearest", intersect: false },
        scales,
        plugins: {
          legend: { display: false },
          levels: { at },
          tooltip: {
            displayColors: false,
            callbacks: {
              title: ([item]) => item?.dataset.label,
              label: ({ raw }) => lines(raw),
            },
          },
        },
      },
    });
    charts.push(chart);
    zoom(chart);
    walk(chart, document.getElementById(`${id}-spoken`));
    return chart;
  }

  function style(curve) {
    const [colour, shape, rotation, dash] = curve.look;
    return { borderColor: colour, backgroundColor: colour, borderDash: dash, borderWidth: 2, pointStyle: shape,
      pointRotation: rotation, pointHoverRadius: 6, pointHitRadius: 8 };
  }

  function convergence(id, horizontal, title, scale) {
    const datasets = data.curves.flatMap((curve, run) => {
      const points = curve.iteration.map((iteration, at) => ({
        x: horizontal === "iteration" ? iteration : curve.seconds[at] * scale, y: curve.recurrence[at],
        iteration, seconds: curve.seconds[at], recurrence: curve.recurrence[at], truth: curve.truth[at] }));
      const line = { ...style(curve), label: curve.label, run, data: points, pointRadius: 0, tension: 0 };
      const marks = { ...style(curve), label: curve.label, run, showLine: false, walk: false, pointRadius: 5,
        backgroundColor: "transparent", pointBorderWidth: 1.8, clip: 8,
        data: curve.marked.map((at) => ({ ...points[at], y: points[at].truth })) };
      return [line, marks];
    });
    const least = Math.min(...data.tolerances);
    const scales = { x: axis(title, false), y: axis("relative residual  ‖b − A x‖ / ‖b‖", true) };
    if (Number.isFinite(least)) scales.y.suggestedMin = least / 3;
    scales.y.ticks = { callback: power, autoSkip: true };
    const chart = plot(id, datasets, scales, (point) => [`iteration ${point.iteration}`,
      `recurrence ${number(point.recurrence)}`, `true residual ${number(point.truth)}`,
      `${number(point.seconds * scale)} ${data.unit}`], data.tolerances);
    listeners.push(() => {
      datasets.forEach((set, index) => chart.setDatasetVisibility(index, !hidden.has(set.run)));
      chart.update();
    });
  }

  function legend() {
    const list = document.getElementById("legend");
    if (!list) return;
    const buttons = [...list.querySelectorAll("button[data-run]")];
    const paint = () => {
      for (const button of buttons) button.setAttribute("aria-pressed", !hidden.has(Number(button.dataset.run)));
    };
    for (const button of buttons) button.addEventListener("click", () => {
      const run = Number(button.dataset.run);
      hidden[hidden.has(run) ? "delete" : "add"](run);
      changed();
    });
    for (const [id, show] of [["show-all", true], ["show-none", false]])
      document.getElementById(id)?.addEventListener("click", () => {
        for (const button of buttons) hidden[show ? "delete" : "add"](Number(button.dataset.run));
        changed();
      });
    listeners.push(paint);
    paint();
  }

  // One curve for each combination of the varied keys other than that of the horizontal axis.
  function scaling() {
    const { columns, rows, swept, good, runs, names } = data.cases;
    const [across, up] = [document.getElementById("scaling-x"), document.getElementById("scaling-y")];
    const straight = document.getElementById("scaling-linear");
    let [x, y, chart] = [0, 0, null];
    const value = (column, of) => `${columns[column].title} ${number(of)}`;
    const lines = (point) => [point.name, value(x, point.x), value(y, point.y)];
    const draw = () => {
      [x, y] = [Number(across.value), Number(up.value)];
      const others = swept.filter((column) => column !== x && !columns[x].leads.includes(column));
      const alone = (word) => others.filter((at) => rows.some((row) => row[at] === word)).length === 1;
      const told = (row, at) => (typeof row[at] === "string" && alone(row[at]) ? row[at]
        : `${columns[at].title} = ${row[at]}`);
      const groups = new Map();
      for (const [at, row] of rows.entries()) {
        if (hidden.has(runs[at]) || !good[at] || row[x] === null || row[y] === null) continue;
        if (!straight.checked && row[y] <= 0) continue;
        const name = others.filter((at) => row[at] !== null).map((at) => told(row, at)).join(", ") || columns[y].title;
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push({ x: row[x], y: row[y], name: names[at] });
      }
      const sets = [...groups].map(([label, points], at) => ({
        ...style({ look: data.looks[at % data.looks.length] }), label, pointRadius: 5, tension: 0,
        showLine: new Set(points.map((point) => point.x)).size === points.length, // repetitions are not joined
        backgroundColor: "transparent", pointBorderWidth: 1.8, data: points.sort((a, b) => a.x - b.x) }));
      const positive = rows.every((row, at) => !good[at] || row[x] === null || row[x] > 0); // a fill level of 0 is not
      const scales = { x: axis(columns[x].title, !straight.checked && positive), y: axis(columns[y].title, !straight.checked) };
      chart ??= plot("scaling", [], scales, lines, []);
      chart.data.datasets = sets;
      chart.options.scales = scales;
      chart.options.plugins.legend = { display: true, position: "bottom", labels: { usePointStyle: true } };
      paint();
    };
    for (const control of [across, up, straight]) control.addEventListener("change", draw);
    listeners.push(draw);
    draw();
  }

  function paint() {
    Chart.defaults.color = getComputedStyle(document.body).color;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    for (const chart of charts) {
      for (const scale of Object.values(chart.options.scales)) {
        (scale.ticks ??= {}).color = Chart.defaults.color;
        (scale.title ??= {}).color = Chart.defaults.color;
      }
      chart.update("none");
    }
  }

  document.documentElement.classList.add("js");
  if (window.Chart) {
    document.documentElement.classList.add("charts");
    paint();
    if (document.getElementById("by-iteration")) {
      convergence("by-iteration", "iteration", "iteration", data.scale);
      convergence("by-time", "seconds", `solve time [${data.unit}]`, data.scale);
    }
    if (document.getElementById("scaling")) scaling();
    legend();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  }
  for (const table of document.querySelectorAll("table.cases")) enliven(table);
})();
