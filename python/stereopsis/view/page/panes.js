// The panes, their views and their legends.
import {colours} from "./colourmaps.js";
import {fill, make, number_text} from "./elements.js";
import {model} from "./model.js";
import {listen} from "./pointer.js";
import {available, limits, map_of, needs, reasons, unit, views} from "./views.js";

const HEAD = 40; // height of a pane without its picture, in pixels of the screen

export class Panes {
  constructor(host, send, box_of) {
    Object.assign(this, {host, send, box_of, panes: []});
    this.#layout();
    this.shown = "";
    new ResizeObserver(() => this.#arrange()).observe(host);
    for (const what of ["look", "frame"]) model.on(what, () => this.#follow());
    model.on("figures", () => this.#label());
  }

  #follow() {
    const key = JSON.stringify([model.look, model.frame?.size, model.frame?.truth, model.frame?.seeds, model.frame?.pinned, Boolean(model.frame?.rig)]);
    if (key !== this.shown) this.#layout();
    this.shown = key;
  }

  #layout() {
    const wanted = model.views();
    this.host.dataset.layout = wanted.length;
    this.#arrange();
    while (this.panes.length > wanted.length) this.panes.pop().element.remove();
    while (this.panes.length < wanted.length) this.panes.push(this.#pane(this.panes.length));
    this.#label();
  }

  // Chooses the number of columns in which the pictures are largest.
  #arrange() {
    const count = model.views().length;
    const [width, height] = model.frame?.size ?? [4, 3];
    const {clientWidth, clientHeight} = this.host;
    const scale = (columns) => Math.min(clientWidth / columns / width, (clientHeight / Math.ceil(count / columns) - HEAD) / height);
    const columns = [...Array(count).keys()].map((k) => k + 1).reduce((best, one) => (scale(one) > scale(best) * 1.02 ? one : best));
    if (this.host.style.getPropertyValue("--columns") === String(columns)) return;
    this.host.style.setProperty("--columns", columns);
    model.changed("look"); // the panes have other places
  }

  #pane(index) {
    const choice = make("select", {"aria-label": `View ${index + 1}`, onchange: () => choose(index, choice.value)});
    const note = make("span", {class: "note"});
    const legend = make("span", {class: "legend"});
    const body = make("div", {class: "pane-body", tabindex: 0, role: "img"});
    const element = make("div", {class: "pane"}, make("div", {class: "pane-head"}, choice, note, legend), body);
    this.host.append(element);
    listen(body, this.box_of, this.send);
    return {element, choice, note, legend, body};
  }

  #label() {
    model.views().forEach((view, index) => {
      const pane = this.panes[index];
      const options = Object.entries(views).map(([value, v]) => {
        const can = available(value, model);
        return {value, text: v.name, disabled: !can, title: can ? "" : needs[v.needs]};
      });
      fill(pane.choice, options, view);
      const can = available(view, model);
      pane.body.dataset.view = can ? view : "";
      pane.body.setAttribute("aria-label", `${views[view].name} of ${model.frame?.name ?? "no picture"}`);
      pane.note.title = pane.note.textContent = can ? note(view) : needs[views[view].needs];
      if (can && model.frame) legend(pane.legend, view);
      else pane.legend.replaceChildren();
    });
  }
}

function choose(index, view) {
  const chosen = [...model.look.views];
  chosen[index] = view;
  model.look_at({views: chosen});
}

function note(view) {
  const {frame} = model;
  if (!frame) return "";
  if (view === "left") return `${frame.size[0]}×${frame.size[1]}`;
  if (view === "right") return frame.rows?.before ? frame.rows.text : "";
  if (view === "disparity") return `${(100 * frame.density).toFixed(1)} % measured`;
  if (view === "error" && model.bad != null) return `${model.bad.toFixed(1)} % off by > 1 px`;
  if (view === "cloud" && !frame.rig) return "not calibrated: shape only";
  if (view === "compare" || view === "difference") return `pinned: ${model.state?.pinned ?? ""}`;
  return "";
}

function legend(host, view) {
  const key = JSON.stringify([view, views[view].map ? limits(view, model) : model.bits, model.look.colours]);
  if (host.dataset.key === key) return;
  host.dataset.key = key;
  if (view === "validity") return host.replaceChildren(...reasons.filter(([bit]) => model.bits & bit).map(([, name, c]) =>
    make("span", {class: "chip", title: name, style: `--chip: rgb(${c.map((v) => Math.round(255 * v)).join(" ")})`}, name)));
  if (!views[view].map) return host.replaceChildren();
  const [low, high] = limits(view, model);
  host.replaceChildren(number_text(low), bar(view), `${number_text(high)} ${unit(view, model)}`);
}

function bar(view) {
  const canvas = make("canvas", {width: 256, height: 1});
  const image = new ImageData(256, 1);
  colours(map_of(view, model)).forEach((byte, i) => (image.data[Math.floor(i / 3) * 4 + (i % 3)] = byte));
  for (let i = 0; i < 256; ++i) image.data[4 * i + 3] = 255;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
