// Records the panes as a WebM video.
import {download} from "./elements.js";
import {model} from "./model.js";

let running = null;

export function record(picture, overlay, button) {
  if (running) return running.stop();
  const both = Object.assign(document.createElement("canvas"), {width: picture.width, height: picture.height});
  const context = both.getContext("2d");
  const stream = both.captureStream(30);
  const recorder = new MediaRecorder(stream, {mimeType: "video/webm", videoBitsPerSecond: 8e6});
  const parts = [];
  let [drawing, copied] = [0, 0];
  // The WebGL image exists only until the browser has shown it, so it is drawn again for the copy.
  const copy = (now) => {
    drawing = requestAnimationFrame(copy);
    if (now < copied + 30) return;
    copied = now;
    model.draw();
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, both.width, both.height);
    context.drawImage(picture, 0, 0, both.width, both.height);
    if (!overlay.hidden) context.drawImage(overlay, 0, 0, both.width, both.height);
  };
  recorder.ondataavailable = ({data}) => parts.push(data);
  recorder.onstop = () => {
    cancelAnimationFrame(drawing);
    running = null;
    button.textContent = "Record";
    button.setAttribute("aria-pressed", false);
    download("recording.webm", new Blob(parts, {type: "video/webm"}));
  };
  copy(performance.now());
  recorder.start(500);
  running = recorder;
  button.textContent = "Stop recording";
  button.setAttribute("aria-pressed", true);
}
