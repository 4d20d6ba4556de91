// Makes a separate page of the present result: both images, the disparity with its values, settings and command line.
import {download} from "./elements.js";
import {model} from "./model.js";

export async function snapshot(send) {
  const {frame, planes, renderer} = model;
  if (!frame || !planes.disparity) return;
  const command = new Promise((done) => (model.wait_command ??= []).push(done));
  send({do: "command"});
  const pictures = {left: renderer.picture_of("left").toDataURL("image/jpeg", 0.9), map: renderer.picture_of("disparity").toDataURL()};
  model.changed("look");
  const values = await deflated(planes.disparity.data);
  const surface = await deflated(surface_of(frame, planes));
  const about = {
    name: frame.name, method: model.state.method, size: frame.size, disparities: frame.disparities, rig: frame.rig,
    density: frame.density, command: await command, ms: frame.ms,
  };
  const template = await (await fetch("snapshot.html")).text();
  const page = template.replace("/*DATA*/", () => `const about = ${safe(about)}, pictures = ${safe(pictures)}, values = "${values}", surface = "${surface}";`);
  download("stereopsis.html", new Blob([page], {type: "text/html"}));
}

// Returns the disparities from which the page computes depth; NaN where they are not measured, or where that is unknown.
function surface_of(frame, {disparity, validity}) {
  if (model.state.fill_depth) return disparity.data;
  const bits = validity?.key === frame.serial ? validity.data : null;
  return disparity.data.map((d, i) => (bits?.[i] === 0 ? d : NaN));
}

const safe = (object) => JSON.stringify(object).replaceAll("<", "\\u003c");

async function deflated(floats) {
  const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (let i = 0; i < packed.length; i += 8192) text += String.fromCharCode(...packed.subarray(i, i + 8192));
  return btoa(text);
}
