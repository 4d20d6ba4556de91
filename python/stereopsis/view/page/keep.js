// The dialog that saves a preset, the command line, images, maps, a cloud, a recording, or a page for other people.
import {by_id, download, make} from "./elements.js";
import {model} from "./model.js";
import {record} from "./record.js";
import {snapshot} from "./snapshot.js";

export function keep_buttons(send) {
  const save = (what, text, title) => make("button", {"data-keep": what, title, onclick: () => send({do: "keep", what})}, text);
  const file = make("input", {type: "file", accept: ".json,application/json", hidden: true, id: "preset-file", "aria-label": "A preset to load"});
  file.addEventListener("change", async () => {
    if (file.files.length) send({do: "preset", json: await file.files[0].text()});
    file.value = "";
  });
  const recording = make("button", {id: "record", title: "Record the pictures as a video", onclick: () => record(by_id("picture"), by_id("overlay"), recording)}, "Record");
  const command = make("code", {class: "command", id: "command", "aria-label": "The command line that gives this result", hidden: true});
  const copy = make("button", {title: "The command line that gives this result, copied", onclick: () => send({do: "command"})}, "Command line");
  const rows = make("div", {class: "rows"},
    make("div", {class: "buttons"},
      save("preset", "Preset", "The pipeline as JSON, for --pipeline (S)"),
      make("button", {title: "Load a preset", onclick: () => file.click()}, "Load preset"), file, copy),
    command,
    make("div", {class: "buttons"},
      make("button", {"data-keep": "picture", title: "The last view as PNG, at the picture's size", onclick: save_picture}, "Picture"),
      save("disparity", "Disparity", "PFM, float"), save("depth", "Depth", "PFM, needs --calib"), save("cloud", "Cloud", "PLY, needs --calib"),
      save("calibration", "Calibration", "The calibration, corrected by pairs of this source; without --calib, the cameras are calibrated. OpenCV's format"),
      save("all", "Everything", "Pair, disparity, preset and command line in one ZIP file")),
    make("div", {class: "buttons"}, recording,
      make("button", {id: "snapshot", title: "A page of its own that shows this result, to send to somebody", onclick: () => snapshot(send)}, "Snapshot page")));
  return make("details", {class: "group", id: "keep", open: true}, make("summary", {}, "Save"), rows);
}

export function take_file(message) {
  download(message.name, new Blob([message.planes[0].data], {type: message.type}));
}

export function take_command(message) {
  const command = by_id("command");
  command.hidden = false;
  command.textContent = message.text;
  navigator.clipboard?.writeText(message.text).catch(() => {});
  for (const waiting of model.wait_command?.splice(0) ?? []) waiting(message.text);
}

async function save_picture() {
  const view = model.views().at(-1);
  const canvas = model.renderer.picture_of(view === "cloud" ? "disparity" : view);
  canvas.toBlob((blob) => download(`${view}.png`, blob), "image/png");
  model.changed("look");
}
