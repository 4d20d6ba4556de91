// Converts between pixels of the screen and of the image. All panes share zoom and centre.
import {model} from "./model.js";

export function pane_boxes(host) {
  const outer = host.getBoundingClientRect();
  return [...host.querySelectorAll(".pane-body")].map((body) => {
    const box = body.getBoundingClientRect();
    return {view: body.dataset.view, x: box.x - outer.x, y: box.y - outer.y, width: box.width, height: box.height, body, outer};
  });
}

// Screen pixels per image pixel, and the image pixel in the middle of the pane.
export function placing(box) {
  const [width, height] = model.frame.size;
  const scale = Math.min(box.width / width, box.height / height) * model.zoom.scale;
  return {scale, x: model.zoom.x * width, y: model.zoom.y * height};
}

export function to_picture(box, x, y) {
  const at = placing(box);
  return [(x - box.width / 2) / at.scale + at.x, (y - box.height / 2) / at.scale + at.y];
}

export function to_screen(box, x, y) {
  const at = placing(box);
  return [box.x + box.width / 2 + (x - at.x) * at.scale, box.y + box.height / 2 + (y - at.y) * at.scale];
}

export function zoom_at(box, x, y, factor) {
  const [px, py] = to_picture(box, x, y);
  const [width, height] = model.frame.size;
  const before = model.zoom.scale;
  const scale = Math.min(64, Math.max(1, before * factor));
  const keep = before / scale;
  model.zoom = {scale, x: (px + (model.zoom.x * width - px) * keep) / width, y: (py + (model.zoom.y * height - py) * keep) / height};
  settle();
}

export function pan(box, dx, dy) {
  const {scale} = placing(box);
  const [width, height] = model.frame.size;
  model.zoom = {...model.zoom, x: model.zoom.x - dx / scale / width, y: model.zoom.y - dy / scale / height};
  settle();
}

export function fit() {
  model.zoom = {scale: 1, x: 0.5, y: 0.5};
  model.changed("look");
}

function settle() {
  const half = 0.5 / model.zoom.scale;
  const inside = (v) => Math.min(1 - half, Math.max(half, v));
  model.zoom.x = inside(model.zoom.x);
  model.zoom.y = inside(model.zoom.y);
  model.changed("look");
}
