import {in_metres} from "./ruler.js";

// The views that a pane can show, each with its planes and the unit, range and colours of its values. The plane `surface`
// has the disparities from which depth and points are computed.
const range = (m) => m.frame?.disparities ?? [0, 64];
const rig = (m) => m.frame?.rig;
const depth = (m, d) => rig(m).fb / (d - rig(m).doffs);

export const views = {
  left: {name: "Left", planes: ["left"]},
  right: {name: "Right", planes: ["right"]},
  disparity: {name: "Disparity", planes: ["disparity"], unit: "px", map: true, of: (m, d) => d, auto: (m) => [range(m)[0], range(m)[1] - 1]},
  depth: {name: "Depth", planes: ["surface"], map: true, needs: "rig", of: depth, auto: (m) => far_near(m)},
  uncertainty: {
    name: "Depth uncertainty for ½ px", planes: ["surface"], map: true, needs: "rig",
    of: (m, d) => 0.5 * depth(m, d) ** 2 / Math.abs(rig(m).fb), auto: (m) => [0, 0.5 * far_near(m)[0] ** 2 / Math.abs(rig(m).fb)],
  },
  confidence: {name: "Confidence", planes: ["confidence"], map: true, auto: () => [0, 1], plain: true},
  validity: {name: "Validity", planes: ["disparity", "validity"]},
  error: {name: "Error against truth", planes: ["disparity", "truth"], unit: "px", map: true, needs: "truth", auto: () => [0, 4], plain: true},
  truth: {name: "Truth", planes: ["truth"], unit: "px", map: true, needs: "truth", auto: (m) => [range(m)[0], range(m)[1] - 1]},
  seeds: {name: "Seeds", planes: ["seeds"], unit: "px", map: true, needs: "seeds", auto: (m) => [range(m)[0], range(m)[1] - 1]},
  compare: {name: "Compare with pinned", planes: ["disparity", "pinned"], unit: "px", map: true, needs: "pinned", auto: (m) => [range(m)[0], range(m)[1] - 1]},
  difference: {name: "Difference to pinned", planes: ["disparity", "pinned"], unit: "px", map: true, needs: "pinned", auto: () => [-4, 4], plain: true},
  cloud: {name: "Point cloud", planes: ["left", "surface"]},
};

export const needs = {
  rig: "start the viewer with --calib",
  truth: "start the viewer with --truth, or choose a generated scene",
  seeds: "start the viewer with --seeds, and switch them on",
  pinned: "pin the settings first",
};

export function available(view, m) {
  const need = views[view].needs;
  return !need || !m.frame || Boolean(m.frame[need]);
}

// The range of colours: from a depth without far outliers to the nearest one. Near pixels have the colours of large
// disparities.
function far_near(m) {
  const {fb, doffs} = rig(m);
  const [first, end] = range(m);
  const largest = Math.max(end - 1 - doffs, 1);
  return [fb / Math.max(first - doffs, largest / 6), fb / largest];
}

export function limits(view, m) {
  const v = views[view];
  if (view === "depth" && !m.look.automatic && rig(m)) return [m.look.far, m.look.near].map((z) => z / in_metres(rig(m)).factor);
  return m.look.automatic || v.plain || view === "depth" || view === "uncertainty" ? v.auto(m) : [m.look.low, m.look.high];
}

// The colour map of a view: errors, differences and confidence have maps of their own.
const own_maps = {error: "error", difference: "difference", confidence: "viridis"};
export const map_of = (view, m) => own_maps[view] ?? m.look.colours;

export function unit(view, m) {
  return views[view].unit ?? (views[view].needs === "rig" ? rig(m)?.unit ?? "" : "");
}

// The bits of the validity with the names and colours of their reasons. The first bit that is set is shown.
export const reasons = [
  [32, "outside the region", [0.35, 0.37, 0.38]],
  [16, "masked", [0.55, 0.58, 0.6]],
  [1, "no candidate", [0.49, 0.36, 0.71]],
  [2, "left-right check", [0.85, 0.37, 0.3]],
  [4, "ambiguous", [0.91, 0.66, 0.24]],
  [8, "speckle", [0.84, 0.45, 0.66]],
  [128, "repaired", [0.35, 0.68, 0.85]],
  [64, "filled", [0.29, 0.5, 0.76]],
];

export function reason_text(bits) {
  const set = reasons.filter(([bit]) => bits & bit).map(([, name]) => name);
  return set.length ? set.join(", ") : "measured";
}
