// Draws lines over the images: the region, a pixel and its match, rows to check a rectification, the edge of a wipe.
import {to_screen} from "./geometry.js";
import {model} from "./model.js";
import {ruler} from "./ruler.js";

const accent = "#4fc4b5", shadow = "rgb(0 0 0 / .55)";

let drawn = "";

export function draw_overlay(canvas, boxes, width, height, ratio) {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  canvas.hidden = !(model.pixel || ruler.points.length || model.dragged || model.frame?.region || model.look.lines || boxes.some((box) => box.view === "compare"));
  const places = boxes.map((b) => [b.view, b.x, b.y, b.width, b.height]);
  const key = canvas.hidden ? "" : JSON.stringify([places, model.zoom, model.pixel, ruler.points, model.dragged, model.frame?.region, model.frame?.size, model.frame?.rows, model.look, w, h]);
  if (key === drawn && !model.pixel) return;
  drawn = key;
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  if (!model.frame || canvas.hidden) return;
  for (const box of boxes) {
    if (!box.view || box.view === "cloud") continue;
    c.save();
    c.beginPath();
    c.rect(box.x, box.y, box.width, box.height);
    c.clip();
    const [[x0, y0], [x1, y1]] = [to_screen(box, 0, 0), to_screen(box, ...model.frame.size)];
    c.beginPath();
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.clip();
    if (model.look.lines && (box.view === "left" || box.view === "right")) rows(c, box);
    if (box.view !== "right") region(c, box);
    if (model.pixel) mark(c, box);
    if (ruler.points.length && box.view !== "right") distance(c, box);
    if (box.view === "compare") wipe(c, box);
    c.restore();
  }
}

function stroke(c, path, colour = accent, thick = 1.5) {
  for (const [style, line] of [[shadow, thick + 2], [colour, thick]]) {
    c.strokeStyle = style;
    c.lineWidth = line;
    c.beginPath();
    path();
    c.stroke();
  }
}

// Draws rows across the picture. In an aligned right picture, dashed lines are the same rows of the picture before.
function rows(c, box) {
  const [width, height] = model.frame.size;
  const before = box.view === "right" ? model.frame.rows?.before : null;
  c.lineWidth = 1;
  for (let i = 1; i < 16; ++i) {
    const row = (i * height) / 16;
    const y = Math.round(to_screen(box, 0, row)[1]) + 0.5;
    c.strokeStyle = "rgb(79 196 181 / .7)";
    c.beginPath();
    c.moveTo(box.x, y);
    c.lineTo(box.x + box.width, y);
    c.stroke();
    if (before) row_before(c, box, before[i - 1], row, width);
  }
}

// A row of the given picture lies where the aligned picture's row and its offset there meet it: at y − v. The offsets are those
// of places at equal distances, from the left border to the right one.
function row_before(c, box, offsets, row, width) {
  c.strokeStyle = "#f0b35b";
  c.setLineDash([6, 4]);
  c.beginPath();
  offsets.forEach((v, k) => c.lineTo(...to_screen(box, (k * width) / (offsets.length - 1), row - v)));
  c.stroke();
  c.setLineDash([]);
}

function region(c, box) {
  const rect = model.dragged ?? model.frame.region;
  if (!rect) return;
  const [x0, y0] = to_screen(box, rect[0], rect[1]);
  const [x1, y1] = to_screen(box, rect[0] + rect[2], rect[1] + rect[3]);
  if (box.view === "left" || model.dragged) {
    c.fillStyle = "rgb(0 0 0 / .4)";
    c.beginPath();
    c.rect(box.x, box.y, box.width, box.height);
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.fill("evenodd");
  }
  stroke(c, () => c.rect(x0, y0, x1 - x0, y1 - y0));
}

function mark(c, box) {
  const {x, y} = model.pixel;
  const d = model.disparity_at(x, y);
  const row = to_screen(box, 0, y + 0.5)[1];
  if (box.view === "right") {
    const [first, end] = model.frame.disparities;
    const [from, to] = [to_screen(box, x + 0.5 - end + 1, 0)[0], to_screen(box, x + 0.5 - first, 0)[0]];
    stroke(c, () => (c.moveTo(box.x, row), c.lineTo(box.x + box.width, row)), "rgb(255 255 255 / .6)", 1);
    stroke(c, () => (c.moveTo(from, row), c.lineTo(to, row)), "#f0b35b", 3);
    for (const x of [from, to]) stroke(c, () => (c.moveTo(x, row - 6), c.lineTo(x, row + 6)), "#f0b35b", 1.5);
    if (Number.isFinite(d)) cross(c, to_screen(box, x + 0.5 - d, 0)[0], row);
    return;
  }
  cross(c, to_screen(box, x + 0.5, 0)[0], row);
}

function distance(c, box) {
  const ends = ruler.points.map(([x, y]) => to_screen(box, x + 0.5, y + 0.5));
  for (const end of ends) cross(c, ...end);
  if (ends.length === 2) stroke(c, () => (c.moveTo(...ends[0]), c.lineTo(...ends[1])), "#f0b35b", 2);
}

function cross(c, x, y) {
  stroke(c, () => {
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      c.moveTo(x + 4 * dx, y + 4 * dy);
      c.lineTo(x + 12 * dx, y + 12 * dy);
    }
  });
}

function wipe(c, box) {
  const x = box.x + model.look.wipe * box.width;
  stroke(c, () => (c.moveTo(x, box.y), c.lineTo(x, box.y + box.height)), "#fff");
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "top";
  const bottom = to_screen(box, 0, 0)[1] + 6;
  for (const [text, at, align] of [["pinned", x - 8, "right"], ["now", x + 8, "left"]]) {
    c.textAlign = align;
    c.fillStyle = shadow;
    c.fillText(text, at + 1, Math.max(bottom, box.y + 6) + 1);
    c.fillStyle = "#fff";
    c.fillText(text, at, Math.max(bottom, box.y + 6));
  }
}
