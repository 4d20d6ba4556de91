// The share of measured pixels and the time of each pair of a sequence, for the present and the pinned settings. A click goes to
// a pair.
import {by_id, draw, number_text} from "./elements.js";
import {model} from "./model.js";

const most = 600; // pairs that are kept of a camera
let runs = {now: new Map(), pinned: new Map()}; // by the index of the pair: {measured, ms}
let of = "";

const values = ({density, ms}) => ({measured: 100 * density, ms});

export function timeline(send) {
  const svg = by_id("timeline");
  model.on("frame", () => {
    const {frame, state} = model;
    const now = `${state?.source} ${state?.playback.length} ${frame.size}`;
    if (now !== of) runs = {now: new Map(), pinned: new Map()};
    of = now;
    const index = state?.playback.live ? frame.serial : frame.index;
    runs.now.set(index, values(frame));
    if (frame.pinned) runs.pinned.set(index, values(frame.pinned));
    else runs.pinned.clear();
    for (const run of Object.values(runs)) while (run.size > most && state?.playback.live) run.delete(run.keys().next().value);
  });
  model.on("figures", () => {
    const several = model.state?.playback.live || (model.state?.playback.length ?? 1) > 1;
    svg.toggleAttribute("hidden", !several);
    if (several) show(svg);
  });
  svg.onclick = (event) => {
    if (model.state?.playback.live) return;
    const {left, width} = svg.getBoundingClientRect();
    const [first, last] = ends();
    send({do: "seek", index: Math.round(first + ((event.clientX - left) / width) * (last - first))});
  };
}

function ends() {
  const {live, length} = model.state.playback;
  const known = [...runs.now.keys()];
  return live ? [Math.min(...known), Math.max(...known, Math.min(...known) + 1)] : [0, length - 1];
}

function show(svg) {
  const {width, height} = svg.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const [first, last] = ends();
  const x = (index) => 2 + ((width - 4) * (index - first)) / Math.max(1, last - first);
  const slowest = Math.max(...[...runs.now.values(), ...runs.pinned.values()].map((v) => v.ms), 1e-3);
  const half = height / 2;
  const lines = [["measured", 100, 0, "%", 1], ["ms", slowest, half, "ms", 2]];
  for (const [key, full, top, unit, curve] of lines) {
    const y = (v) => top + half - 2 - ((half - 16) * v) / full;
    for (const [name, opacity] of [["pinned", 0.4], ["now", 1]]) {
      const points = [...runs[name]].sort(([a], [b]) => a - b).map(([index, value]) => `${x(index).toFixed(1)},${y(value[key]).toFixed(1)}`);
      draw(svg, "polyline", {points: points.join(" "), fill: "none", stroke: `var(--curve-${curve})`, "stroke-width": 1.5, opacity});
    }
    const {frame} = model;
    const shown = key === "measured" ? 100 * frame.density : frame.ms;
    draw(svg, "text", {x: 0, y: top + 10, style: `fill: var(--curve-${curve})`}, `${key === "ms" ? "time" : key} ${number_text(shown)} ${unit} (to ${number_text(full)})`);
  }
  const at = x(model.state.playback.live ? last : model.frame.index);
  draw(svg, "line", {x1: at, x2: at, y1: 0, y2: height, stroke: "var(--text)", opacity: 0.5, "stroke-dasharray": "2 3"});
  svg.setAttribute("aria-label", `${runs.now.size} pairs; measured ${number_text(100 * model.frame.density)} %, ${number_text(model.frame.ms)} ms`);
}
