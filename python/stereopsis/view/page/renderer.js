// Draws every pane: uploads new planes and colours them on the GPU.
import {colours} from "./colourmaps.js";
import {placing} from "./geometry.js";
import {Textures, program} from "./gl.js";
import {model} from "./model.js";
import {view_matrix} from "./orbit.js";
import {INVALID, picture, point, points, quad} from "./shaders.js";
import {limits, map_of, reasons, views} from "./views.js";

const modes = {left: "picture", right: "picture", disparity: "value", confidence: "value", truth: "value", seeds: "value"}; // others have their own
const main_map = {confidence: "confidence", truth: "truth", seeds: "seeds", depth: "surface", uncertainty: "surface"};
const other_map = {error: "truth", compare: "pinned", difference: "pinned"};

const theme = () => document.documentElement.dataset.theme;
const grounds = {light: [0.953, 0.957, 0.957], dark: [0.067, 0.086, 0.09]}; // --ground: opaque pixels need no blending

export class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", {antialias: false, alpha: false});
    if (!gl) throw new Error("This browser has no WebGL 2, which the pictures are drawn by; switch it on, or take another browser.");
    this.gl = gl;
    this.textures = new Textures(gl);
    this.pictures = {};
    this.points = program(gl, points, point);
    this.luts = new Set();
    this.maps = {};
  }

  upload(plane) {
    const {name, width, height, data} = plane;
    if (plane.type === "float32") this.textures.put(name, "map", width, height, this.#without_nan(name, data));
    else if (name === "validity") this.reasons = plane; // uploaded where it is shown
    else this.textures.put(name, plane.channels === 1 ? "image1" : "image3", width, height, data);
  }

  #without_nan(name, data) {
    if (this.maps[name]?.length !== data.length) this.maps[name] = new Float32Array(data.length);
    const copy = this.maps[name];
    for (let i = 0; i < data.length; ++i) copy[i] = data[i] === data[i] ? data[i] : INVALID;
    return copy;
  }

  draw(boxes, width, height, ratio) {
    const {gl, canvas} = this;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(...grounds[theme()], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!model.frame) return;
    for (const box of boxes) {
      const area = [box.x * ratio, h - (box.y + box.height) * ratio, box.width * ratio, box.height * ratio].map(Math.round);
      gl.viewport(...area);
      gl.scissor(...area);
      gl.enable(gl.SCISSOR_TEST);
      if (box.view === "cloud") this.#draw_cloud(box, ratio);
      else if (box.view) this.#draw_picture(box, area, ratio);
    }
  }

  // Returns the pixels of a view at the size of the image, for files.
  picture_of(view) {
    const [width, height] = model.frame.size;
    const zoom = model.zoom;
    model.zoom = {scale: 1, x: 0.5, y: 0.5};
    this.draw([{view, x: 0, y: 0, width, height}], width, height, 1);
    model.zoom = zoom;
    const copy = Object.assign(document.createElement("canvas"), {width, height});
    copy.getContext("2d").drawImage(this.canvas, 0, 0);
    return copy;
  }

  #lut(name) {
    if (!this.luts.has(name)) this.textures.put(`lut-${name}`, "image3", 256, 1, colours(name));
    this.luts.add(name);
    return `lut-${name}`;
  }

  #draw_picture(box, area, ratio) {
    const {gl, textures} = this;
    const {view} = box;
    const mode = modes[view] ?? view;
    const {made, at} = (this.pictures[mode] ??= program(gl, quad, picture(mode)));
    const place = placing(box);
    gl.useProgram(made);
    gl.disable(gl.DEPTH_TEST);
    textures.bind(0, view === "right" ? "right" : "left", "image3");
    textures.bind(1, main_map[view] ?? "disparity", "map");
    textures.bind(2, other_map[view] ?? "disparity", "map");
    textures.bind(3, this.#lut(map_of(view, model)), "image3");
    if (mode === "validity" && this.reasons) {
      textures.put("validity", "reasons", this.reasons.width, this.reasons.height, this.reasons.data);
      this.reasons = null;
    }
    textures.bind(4, "validity", "reasons");
    ["image", "map", "other", "lut", "reasons"].forEach((name, unit) => gl.uniform1i(at[name], unit));
    gl.uniform1i(at.channels, model.planes[view === "right" ? "right" : "left"]?.channels ?? 3);
    gl.uniform2f(at.corner, area[0], area[1]);
    gl.uniform2f(at.pane, area[2], area[3]);
    gl.uniform2f(at.size, ...model.frame.size);
    gl.uniform2f(at.zoom_centre, place.x, place.y);
    gl.uniform1f(at.scale, place.scale * ratio);
    gl.uniform1f(at.wipe, model.look.wipe ?? 0.5);
    const [low, high] = views[view].map || view === "validity" ? limits(view === "validity" ? "disparity" : view, model) : [0, 1];
    gl.uniform2f(at.limits, low, high === low ? low + 1 : high);
    gl.uniform2f(at.rig, model.frame.rig?.fb ?? 1, model.frame.rig?.doffs ?? 0);
    gl.uniform3f(at.ground, ...grounds[theme()]);
    gl.uniform3f(at.none, 0.251, 0.251, 0.251); // the grey of invalid pixels in the pictures of the command
    gl.uniform1iv(at.bits, reasons.map(([bit]) => bit));
    gl.uniform3fv(at.palette, reasons.flatMap(([, , colour]) => colour));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  #draw_cloud(box, ratio) {
    const {gl, textures} = this;
    const {made, at} = this.points;
    const [width, height] = model.frame.size;
    if (!model.planes.surface || !model.planes.left) return;
    const rig = model.frame.rig ?? {fb: width, doffs: 0, focal: width, cx: width / 2, cy: height / 2};
    const fit = Math.min(box.width / width, box.height / height);
    gl.useProgram(made);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    textures.bind(0, "left", "image3");
    textures.bind(1, "surface", "map");
    textures.bind(2, this.#lut(model.look.colours), "image3");
    ["image", "map", "lut"].forEach((name, unit) => gl.uniform1i(at[name], unit));
    gl.uniform2i(at.size, width, height);
    gl.uniform2f(at.limits, ...limits("disparity", model));
    gl.uniform2f(at.rig, rig.fb, rig.doffs);
    gl.uniform2f(at.principal, rig.cx, rig.cy);
    gl.uniform1f(at.focal, rig.focal);
    gl.uniform1f(at.point_size, fit * ratio * 1.7);
    gl.uniform1f(at.centre, rig.fb / Math.max(0.5, (model.median ?? 16) - rig.doffs));
    gl.uniform1i(at.channels, model.planes.left.channels);
    gl.uniform1i(at.by_depth, model.look.cloud_colour === "depth" ? 1 : 0);
    const focal = 2 * rig.focal * fit;
    gl.uniformMatrix4fv(at.view, false, view_matrix(focal / box.width, focal / box.height));
    gl.drawArrays(gl.POINTS, 0, width * height);
  }
}
