// Shows the values of the pixel under the pointer, and the curves of the costs of its candidates.
import {by_id, draw, make, number_text} from "./elements.js";
import {model} from "./model.js";
import {ruler, ruler_text} from "./ruler.js";
import {reason_text} from "./views.js";

const names = {cost: "raw", aggregated: "aggregated", optimised: "optimised"};

export class Probe {
  constructor(readout, svg, send) {
    Object.assign(this, {readout, svg, send, waiting: false, asked: "", distance: by_id("distance")});
    model.on("tool", () => this.#show());
    model.on("pixel", () => this.#ask());
    model.on("figures", () => this.#ask());
    model.on("costs", () => this.#take());
    new ResizeObserver(() => this.#draw()).observe(svg);
  }

  #ask() {
    this.#show();
    const {pixel, frame} = model;
    if (!pixel || !frame) return;
    const key = `${pixel.x},${pixel.y},${frame.serial}`;
    if (this.waiting || key === this.asked) return;
    [this.waiting, this.asked] = [true, key];
    this.send({do: "probe", x: pixel.x, y: pixel.y});
  }

  refused() {
    this.waiting = false;
  }

  #take() {
    this.waiting = false;
    this.#draw();
    setTimeout(() => this.#ask(), model.running ? 400 : 0);
  }

  #show() {
    const {pixel, frame} = model;
    this.distance.hidden = !ruler.on || !frame;
    if (ruler.on && frame) {
      this.distance.textContent = ruler_text();
      this.distance.title = ruler.points.map((point) => point.join(", ")).join(" to ");
    }
    if (!pixel || !frame) {
      this.readout.textContent = "Point at a picture. Click to hold the pixel.";
      this.svg.replaceChildren();
      model.costs = null;
      return;
    }
    const d = model.disparity_at(pixel.x, pixel.y);
    const {validity} = model.planes;
    const bits = validity?.key === frame.serial ? validity.data[pixel.y * frame.size[0] + pixel.x] : null;
    const parts = [`${pixel.x}, ${pixel.y}${pixel.held ? " (held)" : ""}: `];
    if (Number.isFinite(d)) {
      const depth = bits && !model.state?.fill_depth ? "" : depth_text(d, frame.rig);
      parts.push(make("b", {}, `${d.toFixed(2)} px`), depth, `, match at ${(pixel.x - d).toFixed(1)}`);
    } else {
      parts.push(make("b", {}, "no disparity"));
    }
    if (bits != null) parts.push(`, ${reason_text(bits)}`);
    const truth = model.planes.truth?.data[pixel.y * frame.size[0] + pixel.x];
    if (Number.isFinite(truth) && frame.truth) parts.push(`, truth ${truth.toFixed(2)}`);
    this.readout.replaceChildren(...parts);
    this.readout.title = this.readout.textContent;
  }

  #draw() {
    const {costs, pixel} = model;
    if (!costs || !pixel) return this.svg.replaceChildren();
    const {width, height} = this.svg.getBoundingClientRect();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [left, right, top, bottom] = [4, width - 4, 16, height - 15];
    const curves = Object.entries(costs.curves);
    this.svg.replaceChildren();
    if (!curves.length) return draw(this.svg, "foreignObject", {x: 0, y: 8, width, height: height - 8}).append(make("div", {class: "hint"}, costs.text ?? "no costs here"));
    const count = curves[0][1].length;
    const x = (i) => left + ((right - left) * i) / Math.max(1, count - 1);
    const d = model.disparity_at(pixel.x, pixel.y);
    if (Number.isFinite(d)) draw(this.svg, "line", {x1: x(d - costs.first), x2: x(d - costs.first), y1: top - 4, y2: bottom, stroke: "var(--text)", "stroke-dasharray": "2 3"});
    curves.forEach(([name, values], k) => {
      const finite = values.filter((v) => v != null);
      const [low, high] = [Math.min(...finite), Math.max(...finite)];
      const y = (v) => bottom - (bottom - top) * (high > low ? (v - low) / (high - low) : 0.5);
      const colour = `var(--curve-${name === "cost" ? 1 : name === "aggregated" ? 2 : 3})`;
      const points = values.flatMap((v, i) => (v == null ? [] : `${x(i).toFixed(1)},${y(v).toFixed(1)}`));
      draw(this.svg, "polyline", {points: points.join(" "), fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-linejoin": "round"});
      draw(this.svg, "text", {x: left + k * 130, y: 10, style: `fill: ${colour}`}, `${names[name]} ${number_text(low)} to ${number_text(high)}`);
    });
    draw(this.svg, "text", {x: left, y: height - 3}, String(costs.first));
    draw(this.svg, "text", {x: right, y: height - 3, "text-anchor": "end"}, `${costs.first + count - 1} px`);
  }
}

// The uncertainty of depth that is shown assumes a disparity error of half a pixel, whatever the confidence is.
function depth_text(d, rig) {
  if (!rig || d <= rig.doffs) return "";
  const z = rig.fb / (d - rig.doffs);
  return `, ${number_text(z, 4)} ± ${number_text((0.5 * z * z) / Math.abs(rig.fb), 2)} ${rig.unit} for ½ px`;
}
