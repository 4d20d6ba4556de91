// Measures the distance between two points of the scene, which are clicked one after the other.
import {number_text} from "./elements.js";
import {model} from "./model.js";

export const ruler = {on: false, points: []}; // pixels [x, y] of the left image: none, one or two

export function toggle_ruler() {
  Object.assign(ruler, {on: !ruler.on, points: []});
  model.changed("tool");
  model.changed("pixel");
}

export function mark_point(x, y) {
  if (ruler.points.length === 2) ruler.points = [];
  ruler.points.push([x, y]);
  model.changed("pixel");
}

// Returns the point of the scene at a pixel, in the unit of the rig; null without a depth.
export function scene_point([x, y]) {
  const {frame, planes} = model;
  const d = planes.surface?.data[y * frame.size[0] + x];
  const {fb, doffs, focal, cx, cy} = frame.rig;
  if (!(d > doffs)) return null;
  const z = fb / (d - doffs);
  return [((x - cx) * z) / focal, ((y - cy) * z) / focal, z];
}

// Lengths in millimetres are shown in metres.
export function in_metres(rig) {
  return rig.unit === "mm" ? {factor: 0.001, unit: "m"} : {factor: 1, unit: rig.unit};
}

export function ruler_text() {
  const {frame} = model;
  if (!frame.rig) return "A distance needs a calibration: start the viewer with --calib.";
  if (!ruler.points.length) return "Distance: click two points.";
  const shown = ruler.points.map(scene_point);
  const missing = shown.findIndex((point) => !point);
  if (missing >= 0) return `Distance: no depth at ${ruler.points[missing].join(", ")}. Click again.`;
  if (shown.length < 2) return "Distance: click the second point.";
  const {factor, unit} = in_metres(frame.rig);
  const steps = shown[0].map((v, i) => factor * (shown[1][i] - v));
  const [dx, dy, dz] = steps.map((v) => number_text(v));
  return `Distance: ${number_text(Math.hypot(...steps), 4)} ${unit} (right ${dx}, down ${dy}, away ${dz})`;
}
