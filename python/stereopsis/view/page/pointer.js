// Actions of the pointer in a pane: zoom, pan, hold a pixel, drag a region, wipe, turn the cloud.
import {fit, pan, to_picture, zoom_at} from "./geometry.js";
import {model} from "./model.js";
import {mark_point, ruler} from "./ruler.js";
import {approach, reset_orbit, turn} from "./orbit.js";

export const tool = {region: false};

export function listen(body, box_of, send) {
  let drag = null;

  const place = (event) => {
    const box = box_of(body);
    const outer = body.getBoundingClientRect();
    return {box, x: event.clientX - outer.x, y: event.clientY - outer.y};
  };

  body.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (!model.frame) return;
    const {box, x, y} = place(event);
    const factor = Math.exp(-event.deltaY * 0.0015);
    if (box.view === "cloud") (approach(1 / factor), model.changed("look"));
    else zoom_at(box, x, y, factor);
  }, {passive: false});

  body.addEventListener("pointerdown", (event) => {
    if (!model.frame || event.button !== 0) return;
    body.setPointerCapture(event.pointerId);
    const {box, x, y} = place(event);
    const kind = box.view === "cloud" ? "turn"
      : box.view === "compare" && Math.abs(x - model.look.wipe * box.width) < 14 ? "wipe"
      : (tool.region || event.shiftKey) && box.view !== "right" ? "region" : "pan";
    drag = {kind, x, y, from: to_picture(box, x, y), moved: false};
  });

  body.addEventListener("pointermove", (event) => {
    if (!model.frame) return;
    const {box, x, y} = place(event);
    if (!drag) {
      if (box.view !== "cloud" && !model.pixel?.held) point_at(box, x, y, false);
      return;
    }
    const [dx, dy] = [x - drag.x, y - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag.moved = true;
    body.toggleAttribute("data-dragging", true);
    if (drag.kind === "region") {
      model.dragged = rectangle(drag.from, to_picture(box, x, y));
      model.changed("look");
      return;
    }
    if (drag.kind === "wipe") model.look_at({wipe: Math.min(1, Math.max(0, x / box.width))});
    if (drag.kind === "pan") pan(box, dx, dy);
    if (drag.kind === "turn") (turn(dx, dy), model.changed("look"));
    [drag.x, drag.y] = [x, y];
  });

  body.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const {box, x, y} = place(event);
    body.toggleAttribute("data-dragging", false);
    if (drag.kind === "region" && model.dragged) send({do: "region", rect: in_full(model.dragged)});
    else if (!drag.moved && box.view !== "cloud") click(box, x, y);
    if (drag.kind === "region") tool.region = false;
    model.dragged = null;
    drag = null;
    model.changed("tool");
  });

  body.addEventListener("pointerleave", () => {
    if (drag || model.pixel?.held) return;
    model.pixel = null;
    model.changed("pixel");
  });

  body.addEventListener("dblclick", () => {
    if (body.dataset.view === "cloud") reset_orbit();
    fit();
  });
}

// With the ruler, a click on a map marks an end of the distance.
function click(box, x, y) {
  const [px, py] = to_picture(box, x, y).map(Math.floor);
  const [width, height] = model.frame.size;
  if (!ruler.on || box.view === "right") return point_at(box, x, y, true);
  if (px >= 0 && py >= 0 && px < width && py < height) mark_point(px, py);
}

function point_at(box, x, y, hold) {
  const [px, py] = to_picture(box, x, y).map(Math.floor);
  const [width, height] = model.frame.size;
  const inside = px >= 0 && py >= 0 && px < width && py < height;
  const again = hold && model.pixel?.held && model.pixel.x === px && model.pixel.y === py;
  model.pixel = inside && !again ? {x: px, y: py, held: hold} : null;
  model.changed("pixel");
}

function rectangle([x0, y0], [x1, y1]) {
  const [width, height] = model.frame.size;
  const inside = (v, most) => Math.min(most, Math.max(0, Math.round(v)));
  const [left, right] = [inside(Math.min(x0, x1), width - 1), inside(Math.max(x0, x1), width)];
  const [top, bottom] = [inside(Math.min(y0, y1), height - 1), inside(Math.max(y0, y1), height)];
  return [left, top, Math.max(1, right - left), Math.max(1, bottom - top)];
}

// The server keeps regions in pixels of the full size.
function in_full([x, y, width, height]) {
  const [sx, sy] = [model.frame.full[0] / model.frame.size[0], model.frame.full[1] / model.frame.size[1]];
  return [Math.round(x * sx), Math.round(y * sy), Math.round(width * sx), Math.round(height * sy)];
}
