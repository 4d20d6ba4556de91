// The keyboard shortcuts, and the list of them.
import {by_id, make} from "./elements.js";
import {fit} from "./geometry.js";
import {model} from "./model.js";
import {toggle_ruler} from "./ruler.js";
import {toggle_pin, toggle_region} from "./side.js";
import {toggle_theme} from "./theme.js";

export function keyboard(send) {
  const keys = {
    " ": ["play or pause", () => by_id("play").click(), "space"],
    ArrowLeft: ["step back", () => by_id("back").click(), "←"],
    ArrowRight: ["step", () => by_id("forward").click(), "→"],
    1: ["one to four views", () => model.look_at({layout: 1}), "1 … 4"],
    2: [null, () => model.look_at({layout: 2})],
    3: [null, () => model.look_at({layout: 3})],
    4: [null, () => model.look_at({layout: 4})],
    0: ["whole picture (or double click)", fit],
    r: ["drag a region, or drop it", () => toggle_region(send), "R"],
    e: ["estimate the range", () => send({do: "estimate"}), "E"],
    x: ["swap the cameras", () => by_id("swap").click(), "X"],
    p: ["post-processing on or off", () => by_id("refine").click(), "P"],
    a: ["align the rows, or match them as they are", () => by_id("align-rows").click(), "A"],
    c: ["pin these settings and compare, or unpin", () => toggle_pin(send), "C"],
    m: ["measure the distance between two points", toggle_ruler, "M"],
    l: ["rows across both pictures, before and after", () => model.look_at({lines: !model.look.lines}), "L"],
    s: ["save the preset", () => send({do: "keep", what: "preset"}), "S"],
    t: ["dark or light", toggle_theme, "T"],
    Escape: ["let the pixel go", () => ((model.pixel = null), model.changed("pixel")), "Esc"],
    "?": ["this list", () => by_id("keys").showModal()],
  };
  by_id("keys").append(make("h2", {}, "Keyboard"), make("dl", {}, ...Object.entries(keys).filter(([, [text]]) => text)
    .flatMap(([key, [text, , shown]]) => [make("dt", {}, make("kbd", {}, shown ?? key)), make("dd", {}, text)])),
    make("p", {class: "hint"}, "Wheel: zoom. Drag: move. Click: hold a pixel. Shift and drag: a region."));
  by_id("help").onclick = () => by_id("keys").showModal();
  by_id("keys").onclick = (event) => event.target === by_id("keys") && by_id("keys").close();

  addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
    const held = event.ctrlKey || event.metaKey || event.altKey;
    const entry = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (typing || held || !entry || by_id("keys").open) return;
    if (event.key === " " && event.target.matches("button, summary")) return;
    if (event.key.startsWith("Arrow") && event.target.matches("input")) return;
    event.preventDefault();
    entry[1]();
  });
}
