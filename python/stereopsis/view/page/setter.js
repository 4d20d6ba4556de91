// Sends parameters no faster than the server answers. For a moving slider, it sends the newest value.
import {model} from "./model.js";

export function setter(send, link) {
  const waiting = new Map();
  let busy = false;
  const next = () => {
    const [first] = waiting;
    busy = Boolean(first);
    if (!first) return;
    waiting.delete(first[0]);
    send({do: "set", name: first[0], value: first[1]});
  };
  link.on("state", next);
  link.on("cut", () => ((busy = false), waiting.clear()));
  return (name, value) => {
    waiting.set(name, value);
    if (!busy) next();
    model.changed("set");
  };
}
