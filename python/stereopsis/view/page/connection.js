// The WebSocket: sends messages to the server, dispatches its answers by kind, and reconnects.
const address = new URL("socket", location.href);
address.protocol = "ws:";

export class Connection extends EventTarget {
  constructor() {
    super();
    this.#open();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #open() {
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.#tell("open");
    this.socket.onmessage = ({data}) => {
      const message = typeof data === "string" ? JSON.parse(data) : unpacked(data);
      this.#tell(message.kind, message);
    };
    this.socket.onclose = () => {
      this.#tell("cut");
      setTimeout(() => this.#open(), 1000);
    };
  }

  #tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, {detail}));
  }

  on(kind, listener) {
    this.addEventListener(kind, (event) => listener(event.detail));
  }
}

const arrays = {uint8: Uint8Array, float32: Float32Array};

// Parses a message: a JSON header, then planes, which become arrays on the memory of the message.
function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  for (const plane of message.planes) {
    const type = arrays[plane.type];
    plane.data = new type(buffer, 4 + length + plane.offset, plane.bytes / type.BYTES_PER_ELEMENT);
  }
  return message;
}
