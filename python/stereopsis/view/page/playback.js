// Controls for playing, stepping, seeking and the number of views.
import {by_id, fill, segments} from "./elements.js";
import {model} from "./model.js";

const grabs = {off: "off", request: "on request", always: "always"};
const speeds = [1, 2, 5, 10, 15, 25, 30, 60];

export function playback(send) {
  const [play, position, repeat, speed, grab] = ["play", "position", "repeat", "speed", "grab"].map(by_id);
  by_id("back").onclick = () => send({do: "step", by: -1});
  by_id("forward").onclick = () => send({do: "step", by: 1});
  play.onclick = () => send({do: "play", on: !model.state.playback.playing});
  repeat.onchange = () => send({do: "repeat", on: repeat.checked});
  speed.onchange = () => send({do: "speed", value: Number(speed.value)});
  fill(grab, Object.entries(grabs).map(([value, text]) => ({value, text})), "always");
  grab.onchange = () => send({do: "grab", value: grab.value});
  position.oninput = () => send({do: "seek", index: Number(position.value)});
  const show_layout = segments(by_id("layout"), [[1, "1", "One view"], [2, "2", "Two views"], [3, "3", "Three views"], [4, "4", "Four views"]],
    model.look.layout, (n) => model.look_at({layout: Number(n)}));
  model.on("look", () => show_layout(model.look.layout));

  model.on("state", () => {
    const now = model.state.playback;
    const still = now.length === 1 && !now.live;
    play.firstChild.firstChild.setAttribute("d", now.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2.5v11L13.5 8z");
    play.setAttribute("aria-label", now.playing ? "Pause" : "Play");
    play.disabled = still;
    by_id("back").disabled = still || now.live;
    by_id("forward").disabled = still;
    position.hidden = by_id("repeating").hidden = now.live;
    by_id("grabbing").hidden = !now.live;
    grab.value = now.grab;
    position.disabled = repeat.disabled = still;
    position.max = now.length - 1;
    repeat.checked = now.repeat;
    speed.disabled = still;
    const rates = [...new Set([...speeds, now.speed].filter(Boolean))].sort((a, b) => a - b);
    fill(speed, [...rates.map((s) => ({value: s, text: `${Number(s.toFixed(2))} /s`})), {value: 0, text: "all it can"}], now.speed);
  });

  model.on("figures", () => {
    const {frame, state} = model;
    if (document.activeElement !== position || state?.playback.playing) position.value = frame.index;
    const count = state?.playback.length ?? 1;
    by_id("place").textContent = count > 1 ? `${frame.index + 1} of ${count}` : frame.name;
    by_id("place").title = frame.name;
    position.setAttribute("aria-valuetext", by_id("place").textContent);
    by_id("apart").textContent = frame.apart == null ? "" : `${(1000 * frame.apart).toFixed(1)} ms apart`;
  });
}
