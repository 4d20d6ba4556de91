// The side panel: search range, region, display, parameters of the pipeline, and saving.
import {draw_differences} from "./charts.js";
import {choices} from "./colourmaps.js";
import {fill, make, segments} from "./elements.js";
import {keep_buttons} from "./keep.js";
import {model} from "./model.js";
import {in_metres} from "./ruler.js";
import {tool} from "./pointer.js";
import {Slots} from "./slots.js";

const group = (title, open, ...rows) =>
  make("details", {class: "group", open}, make("summary", {}, title), make("div", {class: "rows"}, ...rows));
const row = (name, title, ...controls) =>
  make("label", {class: "row", title}, make("span", {class: "name"}, name), make("span", {class: "value"}, ...controls));

export class Side {
  constructor(host, send, set) {
    this.send = send;
    this.slots = new Slots(make("div"), set, send);
    host.append(this.#search(), keep_buttons(send), this.#picture(), this.#compare(), this.slots.host);
    model.on("state", () => this.#show());
    model.on("frame", () => this.#show_frame());
    model.on("tool", () => this.#show_tool());
    model.on("figures", () => this.#show_figures());
    model.on("look", () => this.#show_look());
    this.#show_look();
  }

  #search() {
    const {send} = this;
    const whole = (label) => make("input", {type: "number", "aria-label": label, onchange: () => this.#send_range()});
    [this.first, this.last] = [whole("Smallest disparity, pixels"), whole("Largest disparity, pixels")];
    this.estimate = make("button", {title: "Estimate from this pair (E)", onclick: () => send({do: "estimate"})}, "Estimate");
    this.searched = make("span", {class: "hint"});
    this.resolution = make("select", {id: "resolution", "aria-label": "Working resolution", onchange: () => send({do: "resolution", value: this.resolution.value})});
    const box = (id, name) => make("input", {id, type: "checkbox", onchange: (e) => send({do: name, on: e.target.checked})});
    [this.swap, this.rectify, this.align_rows, this.seeds, this.refine, this.fill_depth] =
      ["swap", "rectify", "align_rows", "seeds", "refine", "fill_depth"].map((name) => box(name.replace("_", "-"), name));
    this.budget = make("div", {class: "row hint", id: "budget", title: "The method and the size of the pictures that the budget chose for the first pair; a change of the pipeline replaces them"});
    this.rows_found = make("span", {class: "hint", id: "rows-found"});
    this.rows_differ = make("meter", {id: "rows-differ", min: 0, low: 0.1, high: 0.3, max: 1, optimum: 0, "aria-label": "Difference between the rows of the given pictures", title: "By how much the rows of the given pictures differ: up to 0.1 px is good, above 0.3 px costs many pixels; the bar ends at 1 px"});
    this.region = make("button", {id: "region", title: "Drag a region on the left picture (R, or shift and drag)", onclick: () => toggle_region(send)}, "Drag a region");
    this.pair_by = make("select", {id: "pair-by", "aria-label": "Views paired by", onchange: () => this.#send_pairing()});
    fill(this.pair_by, [{value: "number", text: "number"}, {value: "stamp", text: "time stamp"}], "number");
    this.strict = make("input", {id: "strict", type: "checkbox", onchange: () => this.#send_pairing()});
    this.pairing_rows = [
      row("Views paired by", "Number of the picture, or when it was taken", this.pair_by),
      row("Strict synchronisation", "By number, no picture of a file may be without a partner; else times are all but the same", this.strict),
    ];
    const length = (label) => make("input", {type: "number", min: 0, step: "any", "aria-label": label, onchange: () => this.#send_depths()});
    [this.near, this.far] = [length("Nearest depth"), length("Farthest depth")];
    this.depth_unit = make("span", {class: "hint"});
    this.depth_row = row("Depths", "Search range as depths; 0 is infinitely far", this.near, "to", this.far, this.depth_unit);
    this.depth_row.hidden = true;
    this.rectify_row = row("Rectified", "Rectify by the calibration", this.rectify);
    this.seeds_row = row("Seeds", "Disparities that are known beforehand guide the matching", this.seeds);
    this.seeds_row.hidden = true;
    return group("Search", true,
      row("Disparities", "Search range, in pixels of the full size", this.first, "to", this.last),
      this.depth_row,
      make("div", {class: "row"}, this.searched, this.estimate),
      this.budget,
      row("Resolution", "Working resolution: pictures, range and calibration are scaled", this.resolution),
      make("div", {class: "row"}, make("span", {class: "name"}, "Region"), make("span", {class: "value"}, this.region)),
      ...this.pairing_rows,
      row("Cameras swapped", "Left and right change places", this.swap),
      this.rectify_row,
      row("Rows aligned", "Align the rows of the right picture before matching; off: match it as it is (A)", this.align_rows),
      make("div", {class: "row"}, this.rows_differ, this.rows_found),
      this.seeds_row,
      row("Post-processing", "Checks, filters and fills behind the selection (P)", this.refine),
      row("Fill depth", "Depth and points of filled and repaired pixels, too; else only measured pixels have them", this.fill_depth));
  }

  #picture() {
    this.colours = make("select", {id: "colours", "aria-label": "Colour map", onchange: () => model.look_at({colours: this.colours.value})});
    fill(this.colours, choices.map((c) => ({value: c, text: c})), model.look.colours);
    const number = (name, label) => make("input", {type: "number", "aria-label": label, onchange: (e) => model.look_at({automatic: false, [name]: Number(e.target.value)})});
    [this.low, this.high] = [number("low", "Colours from, pixels"), number("high", "Colours to, pixels")];
    const depth = (name, label) => make("input", {type: "number", min: 0, step: "any", "aria-label": label, onchange: (e) => model.look_at({automatic: false, [name]: Number(e.target.value)})});
    [this.near_colour, this.far_colour] = [depth("near", "Colours of depth from"), depth("far", "Colours of depth to")];
    this.automatic = make("input", {type: "checkbox", onchange: () => model.look_at({automatic: this.automatic.checked})});
    this.lines = make("input", {id: "lines", type: "checkbox", onchange: () => model.look_at({lines: this.lines.checked})});
    const cloud = make("span", {class: "segments"});
    this.show_cloud = segments(cloud, [["image", "picture"], ["depth", "depth"]], model.look.cloud_colour, (v) => model.look_at({cloud_colour: v}));
    return group("Picture", false,
      row("Colours", "Of disparity and depth", this.colours),
      row("Colours span the search range", "Else what is given here", this.automatic),
      row("From, to", "Disparities at the ends of the colours", this.low, "to", this.high),
      row("Depths", "Depths at the ends of the colours, in the unit of the legend (metres for millimetres)", this.near_colour, "to", this.far_colour),
      row("Rows", "Rows across both pictures; dashed: the rows of the right picture before they were aligned (L)", this.lines),
      make("div", {class: "row"}, make("span", {class: "name"}, "Cloud's colour"), make("span", {class: "value"}, cloud)));
  }

  #compare() {
    this.pin = make("button", {id: "pin", title: "Keep these settings to compare with (C)", onclick: () => toggle_pin(this.send)}, "Pin these settings");
    this.pinned = make("span", {class: "hint"}, "Pin, change something, and wipe between both.");
    this.figures = make("table", {class: "figures", id: "figures", hidden: true});
    this.differences = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.differences.setAttribute("id", "differences");
    this.differences.setAttribute("role", "img");
    this.differences.setAttribute("aria-label", "Histogram of the differences to the pinned map");
    this.differences.toggleAttribute("hidden", true);
    this.comparison = group("Compare", false, make("div", {class: "buttons"}, this.pin), this.pinned, this.figures, this.differences);
    return this.comparison;
  }

  // Shows the figures of the present settings beside those of the pinned ones.
  #show_figures() {
    const {compared} = model;
    this.figures.hidden = !compared;
    this.differences.toggleAttribute("hidden", !compared);
    if (!compared) return;
    const {now, pinned} = compared;
    const line = (name, key, digits, unit) => {
      const cell = (value) => make("td", {}, `${value.toFixed(digits)} ${unit}`);
      return now[key] == null ? null : make("tr", {}, make("th", {scope: "row"}, name), cell(now[key]), cell(pinned[key]));
    };
    this.figures.replaceChildren(
      make("tr", {}, make("td"), make("th", {scope: "col"}, "now"), make("th", {scope: "col"}, "pinned")),
      ...[line("time", "ms", 1, "ms"), line("measured", "measured", 1, "%"), line("off by > 1 px", "bad", 2, "%")].filter(Boolean),
      make("tr", {}, make("th", {scope: "row"}, "equal (⅛ px)"), make("td", {colspan: 2}, compared.same == null ? "–" : `${compared.same.toFixed(1)} %`)));
    draw_differences(this.differences);
  }

  #send_range() {
    this.send({do: "range", first: Number(this.first.value), end: Number(this.last.value) + 1});
  }

  // The rig of a frame is that of the working size.
  #send_depths() {
    const {rig, full, size} = model.frame;
    const {factor} = in_metres(rig);
    const [near, far] = [this.near, this.far].map((field) => Number(field.value) / factor);
    const whole = full[0] / size[0];
    const disparity = (z) => (z > 0 ? whole * (rig.fb / z + rig.doffs) : whole * rig.doffs);
    const [first, last] = [Math.floor(disparity(far)), Math.ceil(disparity(near))];
    if (near > 0 && last >= first) this.send({do: "range", first, end: last + 1});
    else this.#show_depths();
  }

  // Shows the depths of the search range.
  #show_depths() {
    const {rig, full, size, disparities} = model.frame;
    this.depth_row.hidden = !rig;
    if (!rig) return;
    const {factor, unit} = in_metres(rig);
    const depth = (d) => (d > rig.doffs ? Number(((factor * rig.fb) / (d - rig.doffs)).toPrecision(4)) : 0);
    for (const [field, d] of [[this.near, disparities[1] - 1], [this.far, disparities[0]]])
      if (document.activeElement !== field) field.value = depth(d);
    this.depth_unit.textContent = unit;
  }

  #send_pairing() {
    this.send({do: "pairing", by: this.pair_by.value, strict: this.strict.checked});
  }

  #show() {
    const {state} = model;
    for (const one of this.pairing_rows) one.hidden = !state.pairing;
    this.pair_by.value = state.pairing?.by ?? "number";
    this.strict.checked = Boolean(state.pairing?.strict);
    if (state.disparities) {
      for (const [input, value] of [[this.first, state.disparities[0]], [this.last, state.disparities[1] - 1]])
        if (document.activeElement !== input || input.value === "") input.value = value;
    }
    fill(this.resolution, state.resolutions.map((r) => ({value: r, text: r})), state.resolution);
    this.budget.textContent = state.budget;
    this.budget.hidden = !state.budget;
    this.swap.checked = state.swapped;
    this.rectify.checked = state.rectified;
    this.rectify_row.hidden = !state.rectifiable;
    this.align_rows.checked = state.aligns_rows;
    this.seeds.checked = state.uses_seeds;
    this.refine.checked = state.refined;
    this.fill_depth.checked = state.fill_depth;
    this.pin.textContent = state.pinned == null ? "Pin these settings" : "Unpin";
    this.pin.setAttribute("aria-pressed", state.pinned != null);
    if (state.pinned != null && !this.was_pinned) this.comparison.open = true;
    this.was_pinned = state.pinned != null;
    this.pinned.textContent = state.pinned == null ? "Pin, change something, and wipe between both." : `Pinned: ${state.pinned}`;
    this.slots.show(state.slots);
    this.#show_tool();
  }

  #show_frame() {
    this.seeds_row.hidden = !model.frame.has_seeds;
    const [first, end] = model.frame.disparities;
    const text = `${end - first} searched at ${model.frame.size.join("×")}`;
    if (this.searched.textContent !== text) this.searched.textContent = text;
    const rows = model.frame.rows?.text ?? "";
    if (this.rows_found.textContent !== rows) this.rows_found.textContent = rows;
    this.rows_found.parentElement.hidden = !rows;
    const differ = model.frame.rows?.differ;
    this.rows_differ.hidden = differ == null;
    this.rows_differ.value = differ ?? 0;
    this.#show_depths();
  }

  #show_tool() {
    const there = model.state?.region != null;
    this.region.textContent = there ? "Whole picture" : tool.region ? "Drag on the picture…" : "Drag a region";
    this.region.setAttribute("aria-pressed", tool.region);
  }

  #show_look() {
    const {look} = model;
    this.colours.value = look.colours;
    this.automatic.checked = look.automatic;
    [this.low.value, this.high.value] = [look.low, look.high];
    [this.near_colour.value, this.far_colour.value] = [look.near, look.far];
    for (const field of [this.low, this.high, this.near_colour, this.far_colour]) field.disabled = look.automatic;
    this.lines.checked = look.lines;
    this.show_cloud(look.cloud_colour);
  }
}

export function toggle_region(send) {
  if (model.state?.region) send({do: "region", rect: null});
  else tool.region = !tool.region;
  model.changed("tool");
}

export function toggle_pin(send) {
  const on = model.state?.pinned == null;
  send({do: "pin", on});
  const views = [...model.look.views];
  if (on && !views.includes("compare")) views[Math.min(1, model.look.layout - 1)] = "compare";
  if (!on) views.forEach((view, i) => (views[i] = view === "compare" || view === "difference" ? "disparity" : view));
  model.look_at({views});
}
