// Creates controls from descriptions of parameters: a slider with a number, a list or a switch, with a tooltip and a
// reset button.
import {fill, make} from "./elements.js";
import {model} from "./model.js";

export class Parameter {
  constructor(info, set, ask_limits) {
    this.set = set;
    this.ask_limits = () => ask_limits(this.info.name);
    this.name = make("span", {class: "name"});
    this.reset = make("button", {class: "quiet reset", title: "Back to the default", "aria-label": `Reset ${info.name}`, onclick: () => this.choose(this.info.default)}, "↺");
    this.info = info;
    this.element = make("div", {class: "row", "data-parameter": info.name}, this.name);
    this.#build(info);
    this.show(info);
  }

  choose(value) {
    if (value === "") this.show(this.info);
    else this.set(this.info.name, value);
  }

  #build(info) {
    const label = {"aria-label": [info.name, info.unit].filter(Boolean).join(", ")};
    const parts = [this.reset];
    if (info.type === "flag") {
      this.input = make("input", {...label, type: "checkbox", onchange: () => this.choose(String(this.input.checked))});
    } else if (info.type === "choice") {
      this.input = make("select", {...label, onchange: () => this.choose(this.input.value)});
      fill(this.input, info.choices.map((c) => ({value: c, text: c.replaceAll("_", " ")})), info.value);
    } else if (info.type === "numbers" || info.minimum == null || info.maximum == null) {
      this.input = make("input", {...label, type: "text", size: 9, onchange: () => this.choose(this.input.value)});
    } else {
      this.#build_slider(info, label);
    }
    parts.push(this.input);
    this.element.append(make("span", {class: "value"}, ...parts), ...(this.slider ? [this.slider] : []));
  }

  // The scale of wide ranges is not linear, so that values near the default are easy to select.
  #build_slider(info, label) {
    const span = info.maximum - info.minimum;
    const share = (Number(info.default) - info.minimum) / span;
    this.power = span > 100 && share > 0 && share < 0.3 ? Math.min(6, Math.log(share) / Math.log(0.35)) : span > 1000 ? 4 : 1;
    const step = (info.step || (info.type === "integer" ? 1 : 0)) / span;
    this.input = make("input", {...label, type: "number", step: "any", onchange: () => this.choose(this.input.value)});
    this.slider = make("input", {
      ...label, type: "range", min: 0, max: 1, step: this.power === 1 && step >= 0.01 ? step : "any", // step of an arrow key
      // After a rejected value, a released slider shows the value of the answer.
      onpointerenter: this.ask_limits, onfocus: this.ask_limits,
      onchange: () => {
        this.held = false;
        this.choose(this.input.value);
      },
      oninput: () => {
        this.held = true;
        const value = this.#value_at(Number(this.slider.value));
        if (value !== this.input.value) {
          this.input.value = value;
          this.#say(value);
          this.choose(value);
        }
      },
    });
  }

  #value_at(t) {
    const {minimum, maximum, step, type} = this.info;
    let value = minimum + (maximum - minimum) * t ** this.power;
    const [low, high] = model.limits.get(this.info.name) ?? [minimum, maximum];
    value = Math.min(high, Math.max(low, value));
    if (step) value = minimum + Math.round((value - minimum) / step) * step;
    if (type === "integer") value = Math.round(value);
    return String(Number(Math.min(maximum, value).toPrecision(4)));
  }

  // The value of the slider is its position.
  #say(value) {
    this.slider.setAttribute("aria-valuetext", [value, this.info.unit].filter(Boolean).join(" "));
  }

  show(info) {
    this.info = info;
    const short = info.name.split(".").at(-1).replaceAll("_", " ");
    this.name.replaceChildren(short, ...(info.unit && info.unit.length < 12 ? [" ", make("small", {}, info.unit)] : []));
    this.element.title = `${info.description}\n${info.name}: ${info.allowed}${info.unit ? `, ${info.unit}` : ""}; default ${info.default}`;
    this.element.toggleAttribute("data-changed", info.value !== info.default);
    if (info.type === "flag") this.input.checked = info.value === "true";
    else if (document.activeElement !== this.input || info.type === "choice") this.input.value = info.value;
    if (this.slider && !this.held) {
      const share = (Number(info.value) - info.minimum) / (info.maximum - info.minimum);
      this.slider.value = Math.max(0, share) ** (1 / this.power);
    }
    if (this.slider) this.#say(info.value);
  }
}
