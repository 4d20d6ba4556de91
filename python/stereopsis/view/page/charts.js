// Draws the histogram of disparities and the times of the stages.
import {draw, make, number_text} from "./elements.js";
import {model} from "./model.js";

export function measure() {
  const {frame, planes} = model;
  if (!planes.disparity) return;
  const [first, end] = frame.disparities;
  const bins = Math.min(end - first, 96);
  const counts = new Uint32Array(bins);
  const {data} = planes.disparity;
  const truth = frame.truth && planes.truth?.data.length === data.length ? planes.truth.data : null;
  let [valid, bad, known] = [0, 0, 0];
  for (let i = 0; i < data.length; ++i) {
    const d = data[i];
    if (d === d) {
      const bin = Math.floor(((d - first) * bins) / (end - first));
      counts[bin < 0 ? 0 : bin >= bins ? bins - 1 : bin]++;
      valid++;
    }
    if (truth && truth[i] === truth[i]) {
      known++;
      if (!(Math.abs(d - truth[i]) <= 1)) bad++;
    }
  }
  let [sum, bin] = [0, 0];
  while (bin < bins - 1 && (sum += counts[bin]) < valid / 2) bin++;
  model.median = valid ? first + ((bin + 0.5) * (end - first)) / bins : null;
  model.bad = known ? (100 * bad) / known : null;
  model.counts = counts;
  model.bits = 0;
  for (const bits of planes.validity?.data ?? []) model.bits |= bits;
  model.compared = compared(frame, planes, truth);
}

const wrong = (data, truth) => {
  let [bad, known] = [0, 0];
  for (let i = 0; i < data.length; ++i)
    if (truth[i] === truth[i]) {
      known++;
      if (!(Math.abs(data[i] - truth[i]) <= 1)) bad++;
    }
  return known ? (100 * bad) / known : null;
};

// Returns the figures of the present and of the pinned settings, and the histogram of their differences, −4 to 4 pixels;
// null if nothing is pinned.
function compared(frame, planes, truth) {
  const [now, then] = [planes.disparity.data, planes.pinned?.data];
  if (!frame.pinned || then?.length !== now.length) return null;
  const bins = new Uint32Array(33);
  let both = 0, same = 0;
  for (let i = 0; i < now.length; ++i) {
    const difference = now[i] - then[i];
    if (difference !== difference) continue;
    both++;
    if (Math.abs(difference) <= 0.125) same++;
    bins[Math.min(32, Math.max(0, Math.round(4 * difference) + 16))]++;
  }
  const figures = (data, {ms, density}) => ({ms, measured: 100 * density, bad: truth && wrong(data, truth)});
  return {now: figures(now, frame), pinned: figures(then, frame.pinned), bins, same: both ? (100 * same) / both : null};
}

// Draws the differences to the pinned map; their counts are shown by their square roots, as most are near 0.
export function draw_differences(svg) {
  const {bins, same} = model.compared;
  const [width, height] = [260, 74];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-label", `Histogram of the differences to the pinned map; ${number_text(same)} % are equal`);
  const most = Math.sqrt(Math.max(1, ...bins));
  const step = width / bins.length;
  svg.replaceChildren();
  bins.forEach((count, i) => {
    const h = ((height - 18) * Math.sqrt(count)) / most;
    if (count) draw(svg, "rect", {x: i * step + 0.5, y: height - 14 - h, width: step - 1, height: h, fill: "var(--accent)"});
  });
  for (const [x, anchor, text] of [[0, "start", "≤ −4"], [width / 2, "middle", "0"], [width, "end", "≥ 4 px"]])
    draw(svg, "text", {x, y: height - 2, "text-anchor": anchor}, text);
}

export function draw_histogram(svg) {
  const {counts, frame} = model;
  const {width, height} = svg.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const bottom = height - 14;
  const most = Math.max(1, ...counts);
  const step = width / counts.length;
  let path = "";
  counts.forEach((count, i) => {
    const h = ((bottom - 4) * count) / most;
    if (count) path += `M${(i * step + step * 0.1).toFixed(2)} ${bottom}v${(-Math.max(1, h)).toFixed(2)}h${(step * 0.8).toFixed(2)}V${bottom}z`;
  });
  svg.replaceChildren();
  const [first, last] = [frame.disparities[0], frame.disparities[1] - 1];
  svg.setAttribute("aria-label", `Histogram of disparities, ${first} to ${last} pixels; median ${number_text(model.median)}`);
  draw(svg, "path", {d: path || "M0 0", fill: "var(--accent)", opacity: 0.85});
  draw(svg, "text", {x: 0, y: height - 2}, String(first));
  draw(svg, "text", {x: width / 2, y: height - 2, "text-anchor": "middle"}, `median ${number_text(model.median)}`);
  draw(svg, "text", {x: width, y: height - 2, "text-anchor": "end"}, `${last} px`);
}

// While pairs run, bars and their total follow a running mean.
let means = new Map(); // in the order in which the stages run
let whole = null;

export function draw_times(host, total, ran_on) {
  const {times, ms, device} = model.frame;
  const kept = model.running ? 0.8 : 0;
  const mean = (before, value) => (before == null ? value : before * kept + value * (1 - kept));
  means = new Map(Object.entries(times).map(([name, value]) => [name, mean(means.get(name), value)]));
  whole = mean(whole, ms);
  total.textContent = `${whole.toFixed(1)} ms`;
  ran_on.textContent = `on ${device}`;
  const most = Math.max(...means.values());
  host.replaceChildren(...[...means].map(([name, value]) =>
    make("div", {class: "time", title: `${name}: ${value.toFixed(2)} ms`},
      make("span", {}, name), make("i", {style: `width: ${((100 * value) / most).toFixed(1)}%`}), make("b", {}, value.toFixed(value < 10 ? 2 : 1)))));
}
