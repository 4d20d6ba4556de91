// The programs: a picture or a map in a pane, and the cloud of points.
export const INVALID = -1e30; // stands for NaN, which shaders may not tell apart

export const quad = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

// modes: 0 picture, 1 value, 2 1/value (depth), 3 depth uncertainty, 4 validity, 5 error, 6 compare, 7 difference
export const picture = `#version 300 es
precision highp float;
precision highp usampler2D;
uniform sampler2D image, map, other, lut;
uniform usampler2D reasons;
uniform int mode, channels;
uniform vec2 corner, size, zoom_centre;   // of the pane's pixels; of the image; in image pixels
uniform float scale, wipe;                // pane pixels per image pixel
uniform vec2 limits, rig;                 // of the colours; focal · baseline, principal points' difference
uniform vec3 none, palette[8];
uniform int bits[8];
uniform vec2 pane;
out vec4 colour;

vec3 shade(float value) { return texture(lut, vec2((clamp((value - limits.x) / (limits.y - limits.x), 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb; }
bool valid(float d) { return d > ${INVALID.toExponential()} * 0.5; }

void main() {
  vec2 at = gl_FragCoord.xy - corner;
  vec2 p = (vec2(at.x, pane.y - at.y) - pane * 0.5) / scale + zoom_centre;
  if (any(lessThan(p, vec2(0.0))) || any(greaterThanEqual(p, size))) { colour = vec4(0.0); return; }
  colour.a = 1.0;
  if (mode == 0) {
    vec3 seen = texture(image, p / size).rgb;
    colour.rgb = channels == 1 ? seen.rrr : seen;
    return;
  }
  ivec2 pixel = ivec2(p);
  float d = texelFetch(map, pixel, 0).r;
  if (mode == 4) {
    uint found = texelFetch(reasons, pixel, 0).r;
    float shown = valid(d) ? clamp((d - limits.x) / (limits.y - limits.x), 0.0, 1.0) : 0.0;
    colour.rgb = vec3(0.12 + 0.5 * shown);
    for (int i = 7; i >= 0; --i) if ((found & uint(bits[i])) != 0u) colour.rgb = i > 5 ? mix(palette[i], colour.rgb, 0.45) : palette[i];
    return;
  }
  if (mode == 6 && at.x < wipe * pane.x) d = texelFetch(other, pixel, 0).r;
  if (!valid(d)) { colour.rgb = none; return; }
  if (mode == 5 || mode == 7) {
    float o = texelFetch(other, pixel, 0).r;
    colour.rgb = valid(o) ? shade(mode == 5 ? abs(d - o) : d - o) : none;
    return;
  }
  if (mode == 2 || mode == 3) {
    if (d <= rig.y) { colour.rgb = none; return; }
    float z = rig.x / (d - rig.y);
    d = mode == 2 ? z : 0.5 * z * z / abs(rig.x);
  }
  colour.rgb = shade(d);
}`;

// A vertex for each pixel; invalid ones go out of sight.
export const points = `#version 300 es
precision highp float;
uniform sampler2D image, map, lut;
uniform ivec2 size;
uniform vec2 limits, rig, principal;
uniform float focal, point_size, centre;
uniform int channels, by_depth;
uniform mat4 view;
out vec3 seen;
void main() {
  ivec2 pixel = ivec2(gl_VertexID % size.x, gl_VertexID / size.x);
  float d = texelFetch(map, pixel, 0).r;
  if (d < ${INVALID.toExponential()} * 0.5 || d <= rig.y + 0.25) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  float z = rig.x / (d - rig.y);
  vec3 p = vec3((vec2(pixel) - principal) * z / focal, z) / centre;
  gl_Position = view * vec4(p.x, -p.y, 1.0 - p.z, 1.0);
  gl_PointSize = clamp(point_size * p.z / gl_Position.w, 1.0, 12.0);
  vec3 c = texelFetch(image, pixel, 0).rgb;
  seen = by_depth == 1 ? texture(lut, vec2(clamp((d - limits.x) / (limits.y - limits.x), 0.002, 0.998), 0.5)).rgb : channels == 1 ? c.rrr : c;
}`;

export const point = `#version 300 es
precision mediump float;
in vec3 seen;
out vec4 colour;
void main() { colour = vec4(seen, 1.0); }`;
