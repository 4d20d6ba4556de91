// Dark or light: as the system has it, until somebody chooses.
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
