// Dark or light colours: the setting of the system, until the user selects one.
import {model} from "./model.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

export function show_theme() {
  document.documentElement.dataset.theme = model.look.theme ?? (dark.matches ? "dark" : "light");
  model.changed("look");
}

export function toggle_theme() {
  model.look.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  model.look_at({});
  show_theme();
}

dark.addEventListener("change", show_theme);
