// The two programs of the map: a round dot for each row, its colour looked up by label.
export const VERTEX = `#version 300 es
precision highp float;
in vec2 place; in float label; in float sure;
uniform vec2 middle; uniform float zoom; uniform vec2 shape; uniform float size; uniform float faint; uniform int by;
uniform sampler2D palette; uniform vec3 low; uniform vec3 high;
out vec4 colour;
void main() {
  gl_Position = vec4((place - middle) * zoom * shape, 0.0, 1.0);
  float given = step(0.999, sure);
  gl_PointSize = size * (1.0 + 0.7 * given * step(0.5, label));
  vec4 own = texelFetch(palette, ivec2(int(label + 0.5) % 256, int(label + 0.5) / 256), 0);
  colour = by == 0 ? vec4(own.rgb, mix(faint, 1.0, sure)) : vec4(mix(low, high, sure), 0.9);
}`
export const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour; out vec4 pixel;
void main() {
  vec2 from = gl_PointCoord - 0.5;
  if (dot(from, from) > 0.25) discard;
  pixel = vec4(colour.rgb * colour.a, colour.a);
}`
