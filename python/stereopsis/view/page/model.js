// The page's state: the server's state, the newest frame with its planes, and the view settings.
import {choices} from "./colourmaps.js";

const kept = JSON.parse(localStorage.getItem("stereopsis") ?? "{}");
if (!choices.includes(kept.colours)) delete kept.colours;

class Model extends EventTarget {
  state = null;
  frame = null;
  planes = {};
  look = {
    layout: 2, views: ["left", "disparity", "cloud", "validity"], colours: choices[0], automatic: true, low: 0, high: 64, near: 1, far: 20,
    lines: false, wipe: 0.5, cloud_colour: "image", ...kept,
  };
  limits = new Map(); // lowest and highest value that a parameter may have now, by its name
  zoom = {scale: 1, x: 0.5, y: 0.5};
  pixel = null; // {x, y, held} in the left image
  costs = null; // costs at that pixel
  dragged = null; // a region while it is dragged

  changed(what) {
    this.dispatchEvent(new Event(what));
  }

  on(what, listener) {
    this.addEventListener(what, listener);
  }

  look_at(change) {
    Object.assign(this.look, change);
    localStorage.setItem("stereopsis", JSON.stringify({...this.look, wipe: undefined}));
    this.changed("look");
  }

  // Returns whether new pairs arrive without a request.
  get running() {
    const now = this.state?.playback;
    return Boolean(now?.playing && (now.live || now.length > 1));
  }

  views() {
    return this.look.views.slice(0, this.look.layout);
  }

  disparity_at(x, y) {
    const plane = this.planes.disparity;
    return plane && x >= 0 && y >= 0 && x < plane.width && y < plane.height ? plane.data[y * plane.width + x] : NaN;
  }
}

export const model = new Model();
