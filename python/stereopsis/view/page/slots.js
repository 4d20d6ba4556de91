// The groups of the pipeline's slots: the stage of each slot and its parameters. They are created again only if the
// slots change.
import {fill, make} from "./elements.js";
import {model} from "./model.js";
import {Parameter} from "./parameters.js";

const titles = {cost: "Matching cost", select: "Selection", prepare: "Preparation", roi: "Region"};
const opened = new Set(["cost", "aggregation", "optimisation"]); // includes slots that are empty at present
const words = (name) => name.replaceAll("_", " ");
const title_of = (slot) => titles[slot] ?? words(slot).replace(/^./, (c) => c.toUpperCase()).replace(/\d+$/, " $&");

export class Slots {
  constructor(host, set, send) {
    Object.assign(this, {host, set, send, made: ""});
  }

  show(slots) {
    const key = JSON.stringify(slots.map((s) => [s.slot, s.stage, s.parameters.map((p) => [p.name, p.choices])]));
    if (key !== this.made) this.#make(slots);
    this.made = key;
    for (const slot of slots) {
      if (this.stages[slot.slot]) this.stages[slot.slot].value = slot.stage;
      for (const info of slot.parameters) {
        const enabled = info.name.endsWith(".enabled");
        if (enabled) this.switches[slot.slot].checked = info.value === "true";
        else this.parameters[info.name].show(info);
      }
    }
  }

  #make(slots) {
    [this.parameters, this.switches, this.stages] = [{}, {}, {}];
    this.refinements = slots.filter((s) => s.refinement).map((s) => s.slot);
    const group = (slot) => make("details", {
      class: "group", "data-slot": slot.slot, open: opened.has(slot.slot) && slot.stage !== "none",
      ontoggle: (event) => (event.target.open ? opened.add(slot.slot) : opened.delete(slot.slot)),
    }, this.#summary(slot), this.#rows(slot));
    const [before, after] = [slots.filter((s) => s.refinement || model.state.stages[s.slot]), slots.filter((s) => !s.refinement && !model.state.stages[s.slot])];
    this.host.replaceChildren(...before.map(group), this.#adder(), ...after.map(group));
  }

  #rows(slot) {
    const rows = make("div", {class: "rows"});
    const choices = model.state.stages[slot.slot] ?? [];
    if (choices.length > 1) {
      const list = make("select", {"aria-label": `${slot.slot}.stage`, onchange: () => this.set(`${slot.slot}.stage`, list.value)});
      fill(list, choices.map((value) => ({value, text: words(value)})), slot.stage);
      this.stages[slot.slot] = list;
      rows.append(make("label", {class: "row stage", title: `${slot.slot}.stage: what fills this slot`}, make("span", {class: "name"}, "stage"), make("span", {class: "value"}, list)));
    }
    for (const info of slot.parameters) {
      if (info.name.endsWith(".enabled")) continue;
      this.parameters[info.name] = new Parameter(info, this.set, (name) => this.send({do: "limits", name}));
      rows.append(this.parameters[info.name].element);
    }
    if (!rows.children.length) rows.append(make("span", {class: "hint"}, "nothing to set"));
    return rows;
  }

  #summary(slot) {
    const summary = make("summary", {}, title_of(slot.slot));
    const enabled = slot.parameters.find((p) => p.name.endsWith(".enabled"));
    if (enabled) {
      const box = make("input", {type: "checkbox", "aria-label": enabled.name, title: enabled.description, onclick: (event) => event.stopPropagation(), onchange: () => this.set(enabled.name, String(box.checked))});
      this.switches[slot.slot] = box;
      summary.prepend(box);
    }
    if (slot.refinement) summary.append(this.#order(slot.slot));
    else if (model.state.stages[slot.slot]) summary.append(make("small", {}, words(slot.stage)));
    return summary;
  }

  // The position of a refinement among the others.
  #order(slot) {
    const at = this.refinements.indexOf(slot);
    const change = (names) => (event) => {
      event.preventDefault();
      this.send({do: "refinements", names});
    };
    const others = this.refinements.filter((name) => name !== slot);
    const earlier = make("button", {class: "quiet", title: "Earlier", "aria-label": `${slot} earlier`, disabled: at === 0, onclick: change(others.toSpliced(at - 1, 0, slot))}, "↑");
    const remove = make("button", {class: "quiet", title: "Take it out", "aria-label": `Remove ${slot}`, onclick: change(others)}, "×");
    return make("span", {class: "order"}, earlier, remove);
  }

  #adder() {
    const list = make("select", {id: "add-refinement", "aria-label": "Add a refinement", onchange: () => this.send({do: "refinements", names: [...this.refinements, list.value]})});
    fill(list, [{value: "", text: "Add a refinement…", disabled: true}, ...model.state.stages.refinements.map((value) => ({value, text: words(value)}))], "");
    return make("div", {class: "adder"}, list);
  }
}
