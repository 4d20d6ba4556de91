// The shader programs for images and maps, and for the cloud of points.
export const INVALID = -1e30; // represents NaN, which shaders may not be able to test

export const quad = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;

// The shader of an image or a map: one program for each mode, so that a program computes only its own mode.
export const picture = (mode) => `#version 300 es
#define ${mode.toUpperCase()}
precision highp float;
precision highp usampler2D;
uniform sampler2D image, map, other, lut;
uniform usampler2D reasons;
uniform int channels;
uniform vec2 corner, pane, size, zoom_centre;   // the pane's pixels; the image's; in image pixels
uniform float scale, wipe;                      // pane pixels per image pixel
uniform vec2 limits, rig;                       // of the colours; focal · baseline, principal points' difference
uniform vec3 none, ground, palette[8];
uniform int bits[8];
out vec4 colour;

bool valid(float d) { return d > ${INVALID.toExponential()} * 0.5; }
float share(float value) { return clamp((value - limits.x) / (limits.y - limits.x), 0.0, 1.0); }
vec3 shade(float value) { return texelFetch(lut, ivec2(int(share(value) * 255.0 + 0.5), 0), 0).rgb; }

vec3 seen(vec2 p, float across) {
  ivec2 pixel = ivec2(p);
#ifdef PICTURE
  vec3 c = texture(image, p / size).rgb;
  return channels == 1 ? c.rrr : c;
#else
  float d = texelFetch(map, pixel, 0).r;
#ifdef COMPARE
  if (across < wipe) d = texelFetch(other, pixel, 0).r;
#endif
#ifdef VALIDITY
  uint found = texelFetch(reasons, pixel, 0).r;
  vec3 c = vec3(0.12 + (valid(d) ? 0.5 * share(d) : 0.0));
  for (int i = 7; i >= 0; --i) if ((found & uint(bits[i])) != 0u) c = i > 5 ? mix(palette[i], c, 0.45) : palette[i];
  return c;
#endif
  if (!valid(d)) return none;
#if defined(ERROR) || defined(DIFFERENCE)
  float o = texelFetch(other, pixel, 0).r;
  if (!valid(o)) return none;
  d -= o;
#endif
#ifdef ERROR
  d = abs(d);
#endif
#if defined(DEPTH) || defined(UNCERTAINTY)
  if (d <= rig.y) return none;
  d = rig.x / (d - rig.y);
#endif
#ifdef UNCERTAINTY
  d = 0.5 * d * d / abs(rig.x);
#endif
  return shade(d);
#endif
}

void main() {
  vec2 at = gl_FragCoord.xy - corner;
  vec2 p = (vec2(at.x, pane.y - at.y) - pane * 0.5) / scale + zoom_centre;
  bool inside = all(greaterThanEqual(p, vec2(0.0))) && all(lessThan(p, size));
  colour = vec4(inside ? seen(p, at.x / pane.x) : ground, 1.0);
}`;

// Draws a vertex for each pixel, and moves invalid ones out of sight.
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
