// Elements from text: whatever comes from the data is set as text, never as HTML.
export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (name === "text") element.textContent = value
    else element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...children.filter((child) => child !== null && child !== undefined))
  return element
}

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`
export const count = (number) => number.toLocaleString("en")

// Arrays that the server packed: a length, a header, then the arrays.
export async function unpack(blob) {
  const data = await blob.arrayBuffer()
  const length = new DataView(data).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)))
  const kinds = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array }
  for (const { name, type, start, length: size } of header.arrays) {
    header[name] = new kinds[type](data, 4 + length + start, size)
  }
  return header
}

// A colour for each class: the golden angle keeps neighbours apart, two lightnesses tell apart the rest.
export function colourOf(place, dark) {
  const hue = (place * 137.508 + 210) % 360
  return hslToRgb(hue / 360, 0.65, (dark ? 0.62 : 0.42) + (place % 2 ? 0.09 : -0.03))
}

function hslToRgb(h, s, l) {
  const a = s * Math.min(l, 1 - l)
  const f = (n) => { const k = (n + 12 * h) % 12; return l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)) }
  return [f(0), f(8), f(4)]
}

export const css = ([r, g, b]) => `rgb(${Math.round(255 * r)} ${Math.round(255 * g)} ${Math.round(255 * b)})`
