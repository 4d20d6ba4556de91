// Helpers for WebGL2: programs with their uniforms, and textures that can be updated.
export function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); ++i) {
    const name = gl.getActiveUniform(made, i).name.replace("[0]", "");
    at[name] = gl.getUniformLocation(made, name);
  }
  return {made, at};
}

const FILLING = 7; // the unit at which textures are updated; no program reads it

const formats = {
  image1: ["R8", "RED", "UNSIGNED_BYTE"],
  image3: ["RGB8", "RGB", "UNSIGNED_BYTE"],
  map: ["R32F", "RED", "FLOAT"],
  reasons: ["R8UI", "RED_INTEGER", "UNSIGNED_BYTE"],
};

export class Textures {
  constructor(gl) {
    this.gl = gl;
    this.made = {};
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  }

  put(name, kind, width, height, data) {
    const {gl} = this;
    const [inner, format, type] = formats[kind].map((constant) => gl[constant]);
    const before = this.made[name];
    const same = before && before.kind === kind && before.width === width && before.height === height;
    if (before && !same) gl.deleteTexture(before.texture);
    const texture = same ? before.texture : gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + FILLING);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (same) {
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, format, type, data);
    } else {
      gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, height, 0, format, type, data);
      const filter = kind.startsWith("image") ? gl.LINEAR : gl.NEAREST;
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, name === "lut" ? gl.LINEAR : gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    }
    this.made[name] = {texture, kind, width, height};
  }

  // An empty texture is bound if there is none, because every sampler requires one.
  bind(unit, name, kind) {
    if (!this.made[name]) this.put(name, kind, 1, 1, kind === "map" ? new Float32Array([-1e30]) : new Uint8Array(3));
    this.gl.activeTexture(this.gl.TEXTURE0 + unit);
    this.gl.bindTexture(this.gl.TEXTURE_2D, this.made[name].texture);
  }
}
