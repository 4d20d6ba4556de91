// Creates elements in one call: make("button", {class: "quiet", onclick: f}, "text", child…).
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export function draw(svg, tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text != null) element.textContent = text;
  svg.append(element);
  return element;
}

export const by_id = (id) => document.getElementById(id);

// Sets the options of a list, or groups of options, and the selected one. It does not touch a list that has not changed.
export function fill(select, options, chosen) {
  const text = JSON.stringify(options);
  if (select.dataset.options !== text) {
    select.dataset.options = text;
    const option = (o) => make("option", {value: o.value, title: o.title, disabled: o.disabled}, o.text);
    select.replaceChildren(...options.map((o) => (o.group ? make("optgroup", {label: o.group}, ...o.options.map(option)) : option(o))));
  }
  if (document.activeElement !== select || select.value !== String(chosen)) select.value = String(chosen);
}

export function segments(host, options, chosen, choose) {
  const buttons = options.map(([value, text, title]) =>
    make("button", {type: "button", title, "aria-label": title, "data-value": value, onclick: () => choose(value)}, text));
  host.replaceChildren(...buttons);
  const show = (value) => buttons.forEach((b) => b.setAttribute("aria-pressed", b.dataset.value === String(value)));
  show(chosen);
  return show;
}

export function number_text(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  return Number(value.toPrecision(digits)).toString();
}

export function download(name, blob) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 30000);
}
