// Connects the parts: messages update the model, and changes are drawn in the next frame of the screen.
import {draw_histogram, draw_times, measure} from "./charts.js";
import {Connection} from "./connection.js";
import {by_id, fill, make} from "./elements.js";
import {pane_boxes} from "./geometry.js";
import {take_command, take_file} from "./keep.js";
import {keyboard} from "./keyboard.js";
import {model} from "./model.js";
import {draw_overlay} from "./overlay.js";
import {Panes} from "./panes.js";
import {playback} from "./playback.js";
import {Probe} from "./probe.js";
import {Renderer} from "./renderer.js";
import {ruler, toggle_ruler} from "./ruler.js";
import {setter} from "./setter.js";
import {Side} from "./side.js";
import {show_theme, toggle_theme} from "./theme.js";
import {timeline} from "./timeline.js";
import {available, views} from "./views.js";

const host = by_id("panes");
const link = new Connection();
const send = (message) => link.send(message);
let due = 0, boxes = null; // null: must be measured again
const box_of = (body) => pane_boxes(host).find((box) => box.body === body);

show_theme();
model.link = link;
model.renderer = new_renderer();
const set = setter(send, link);
new Panes(host, send, box_of);
new Side(by_id("side"), send, set);
playback(send);
keyboard(send);
const probe = new Probe(by_id("readout"), by_id("curve"), send);
by_id("theme").onclick = toggle_theme;
by_id("ruler").onclick = toggle_ruler;
timeline(send);
model.on("tool", () => {
  by_id("ruler").setAttribute("aria-pressed", ruler.on);
  ask();
});
for (const [id, change] of [["source", (v) => ({do: "source", index: Number(v)})], ["method", (v) => ({do: "method", name: v})], ["device", (v) => ({do: "device", name: v})]])
  by_id(id).onchange = (event) => send(change(event.target.value));

function new_renderer() {
  try {
    return new Renderer(by_id("picture"));
  } catch (error) {
    notice(error.message);
    throw error;
  }
}

// Requests new versions of the planes that are shown; the server answers when there is one.
function ask() {
  const names = new Set(["disparity", "left", ...model.views().filter((v) => available(v, model)).flatMap((v) => views[v].planes)]);
  if (!model.running || model.pixel) names.add("validity"); // else nobody asks for a pixel's reason
  if (model.frame?.truth && (!model.running || model.frame.pinned)) names.add("truth");
  if (model.frame?.pinned) names.add("pinned");
  if (ruler.on && model.frame?.rig) names.add("surface");
  const have = Object.fromEntries([...names].map((name) => [name, model.planes[name]?.key ?? null]));
  const text = JSON.stringify(have);
  if (text !== ask.last) send({do: "ready", have});
  ask.last = text;
}

// Figures and charts are updated only a few times per second while pairs run.
let figured = 0, later = 0;
function figures() {
  clearTimeout(later);
  const wait = model.running ? figured + 400 - performance.now() : 0;
  if (wait > 0) return (later = setTimeout(figures, wait));
  figured = performance.now();
  measure();
  draw_histogram(by_id("histogram"));
  draw_times(by_id("times"), by_id("total"), by_id("ran-on"));
  model.changed("figures");
}

const shown = [];
link.on("frame", (frame) => {
  const size = model.frame?.size.join();
  for (const plane of frame.planes) {
    model.planes[plane.name] = plane;
    model.renderer.upload(plane);
  }
  model.frame = frame;
  for (const name of ["truth", "seeds", "pinned"]) if (!frame[name]) delete model.planes[name];
  if (size && size !== frame.size.join()) Object.assign(model, {pixel: null}), (ruler.points = []);
  model.changed("frame");
  figures();
  ask();
});

// Lists the devices that were found, and the requested one if the call gave it another name.
function devices(state) {
  const found = state.devices.map((d) => ({value: d.name, text: d.name, disabled: !d.usable, title: d.usable ? d.description : d.reason}));
  const options = [{value: "auto", text: "auto"}, ...found];
  return options.some((o) => o.value === state.device) ? options : [...options, {value: state.device, text: state.device}];
}

link.on("state", (state) => {
  const ran = model.running;
  model.state = state;
  document.body.dataset.revision = state.revision;
  fill(by_id("source"), state.sources.map((text, value) => ({value, text})), state.source);
  const listed = (all) => all.map((m) => ({value: m.name, text: m.name, title: `${m.summary}\n${m.paper}`}));
  fill(by_id("method"), [{group: "Presets", options: listed(state.presets)}, {group: "Methods", options: listed(state.methods)}], state.method);
  fill(by_id("device"), devices(state), state.device);
  model.changed("state");
  if (ran && !model.running) ask();
  notice(state.trouble || state.fault, true);
});
link.on("probe", (costs) => {
  model.costs = costs;
  model.changed("costs");
});
link.on("limits", ({name, low, high}) => model.limits.set(name, [low, high]));
link.on("file", (message) => {
  take_file(message);
  if (message.remark) notice(message.remark);
});
link.on("command", take_command);
link.on("refused", ({text}) => {
  probe.refused();
  notice(text);
});
link.on("open", () => {
  model.planes = {};
  ask.last = "";
  by_id("notice").hidden = true;
  ask();
});
link.on("cut", () => notice("The viewer does not answer: it ended, or the connection was cut. Trying again…"));

// An error of the run stays as long as it lasts; the notice of a rejected change disappears after a while.
let hide = 0;
function notice(text, lasting = false) {
  const element = by_id("notice");
  if (!text && lasting && element.dataset.lasting !== "true") return;
  clearTimeout(hide);
  element.dataset.lasting = lasting;
  element.hidden = !text;
  element.replaceChildren(make("span", {}, text ?? ""), make("button", {class: "quiet", "aria-label": "Close", onclick: () => (element.hidden = true)}, "×"));
  if (!lasting) hide = setTimeout(() => (element.hidden = true), 12000);
}

function draw() {
  due = 0;
  boxes ??= pane_boxes(host);
  for (const box of boxes) box.view = box.body.dataset.view;
  const {outer} = boxes[0];
  const ratio = Math.min(2, devicePixelRatio);
  model.renderer.draw(boxes, outer.width, outer.height, ratio);
  draw_overlay(by_id("overlay"), boxes, outer.width, outer.height, ratio);
  document.body.dataset.shown = model.frame?.revision ?? -1;
  if (model.frame && shown.at(-1)?.serial !== model.frame.serial) shown.push({serial: model.frame.serial, at: performance.now()});
}

const again = () => (due ||= requestAnimationFrame(draw));
const placed = () => {
  boxes = null;
  again();
};
for (const what of ["frame", "pixel", "state"]) model.on(what, again);
for (const what of ["look", "pixel"]) model.on(what, () => ask());
model.on("look", placed);
new ResizeObserver(placed).observe(host);
new ResizeObserver(() => model.counts && draw_histogram(by_id("histogram"))).observe(by_id("histogram"));

setInterval(() => {
  const now = performance.now();
  while (shown.length && shown[0].at < now - 2000) shown.shift();
  const rate = (value) => (value ? value.toFixed(value < 10 ? 1 : 0) : "–");
  const follow = model.running && shown.length > 1; // single pairs have no rate
  by_id("rate-showing").textContent = rate(follow ? ((shown.length - 1) * 1000) / (shown.at(-1).at - shown[0].at) : 0);
  by_id("rate-matching").textContent = rate(follow ? model.frame.rates.matching : 0);
  by_id("rate-grabbing").textContent = rate(follow ? model.frame.rates.grabbing : 0);
}, 500);
model.shown = shown;
model.draw = draw;
globalThis.viewer = model; // for debugging in the console
