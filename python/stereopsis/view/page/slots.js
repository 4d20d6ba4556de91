// The groups of a pipeline's slots. They are made again only when the pipeline has others.
import {make} from "./elements.js";
import {Parameter} from "./parameters.js";

const titles = {cost: "Matching cost", aggregation: "Aggregation", optimisation: "Optimisation", select: "Selection", levels: "Levels", prepare: "Preparation", roi: "Region"};

export class Slots {
  constructor(host, set) {
    Object.assign(this, {host, set, made: ""});
  }

  show(slots) {
    const key = JSON.stringify(slots.map((s) => [s.slot, s.stage, s.parameters.map((p) => [p.name, p.choices])]));
    if (key !== this.made) this.#make(slots);
    this.made = key;
    for (const slot of slots) {
      for (const info of slot.parameters) {
        const enabled = info.name.endsWith(".enabled");
        if (enabled) this.switches[slot.slot].checked = info.value === "true";
        else this.parameters[info.name].show(info);
      }
    }
  }

  #make(slots) {
    const open = new Set([...this.host.querySelectorAll("details[open]")].map((d) => d.dataset.slot));
    const first = !this.made;
    [this.parameters, this.switches] = [{}, {}];
    this.host.replaceChildren(...slots.filter((s) => s.parameters.length).map((slot) => {
      const rows = make("div", {class: "rows"});
      for (const info of slot.parameters) {
        if (info.name.endsWith(".enabled")) continue;
        this.parameters[info.name] = new Parameter(info, this.set);
        rows.append(this.parameters[info.name].element);
      }
      if (!rows.children.length) rows.append(make("span", {class: "hint"}, "nothing to set"));
      const shown = open.has(slot.slot) || (first && (slot.slot === "optimisation" || slot.slot === "aggregation" || slot.slot === "cost"));
      return make("details", {class: "group", "data-slot": slot.slot, open: shown}, this.#summary(slot), rows);
    }));
  }

  #summary(slot) {
    const title = titles[slot.slot] ?? slot.slot.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase());
    const summary = make("summary", {}, title);
    const enabled = slot.parameters.find((p) => p.name.endsWith(".enabled"));
    if (enabled) {
      const box = make("input", {type: "checkbox", "aria-label": enabled.name, title: enabled.description, onclick: (event) => event.stopPropagation(), onchange: () => this.set(enabled.name, String(box.checked))});
      this.switches[slot.slot] = box;
      summary.prepend(box);
    } else if (!slot.refinement) {
      summary.append(make("small", {}, slot.stage.replaceAll("_", " ")));
    }
    return summary;
  }
}
