// The map: dots by WebGL2, pan, zoom, lasso. It is hidden from screen readers; the queue is the way without it.
import { colourOf, make } from "./dom.js"
import { FRAGMENT, VERTEX } from "./shaders.js"

const ALL = 0.93 // a zoom that shows all rows
const MOST_NAMES = 40 // of classes on the map

export class MapView {
  constructor(el, onPick, onLasso) {
    this.canvas = make("canvas", { "aria-hidden": "true" })
    this.overlay = make("canvas", { "aria-hidden": "true", class: "overlay" })
    el.append(this.canvas, this.overlay)
    this.gl = this.canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true })
    this.onPick = onPick
    this.onLasso = onLasso
    this.middle = [0, 0]
    this.zoom = ALL
    this.size = [1, 1] // of the canvas, and how it is stretched
    this.shape = [1, 1]
    this.by = 0 // 0 label, 1 confidence, 2 novelty
    this.lassoing = false
    this.current = -1
    this.chosen = []
    this.classes = []
    this.middles = []
    if (this.gl) this.prepare()
    else el.append(make("p", { class: "note", text: "This browser has no WebGL2, so there is no map; the queue works without it." }))
    new ResizeObserver(() => this.draw()).observe(el)
    this.dark = matchMedia("(prefers-color-scheme: dark)")
    this.dark.addEventListener("change", () => this.setClasses(this.classes))
    this.mouse()
  }

  prepare() {
    const gl = this.gl
    const program = gl.createProgram()
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind)
      gl.shaderSource(shader, source)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
    }
    gl.linkProgram(program)
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program))
    gl.useProgram(program)
    this.program = program
    this.buffers = { place: gl.createBuffer(), label: gl.createBuffer(), confidence: gl.createBuffer(), novelty: gl.createBuffer() }
    this.texture = gl.createTexture()
    gl.bindTexture(gl.TEXTURE_2D, this.texture)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
    gl.enable(gl.BLEND)
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
  }

  setPlaces(places) {
    this.places = places
    this.n = places.length / 2
    if (this.gl) this.fill("place", places, 2, this.gl.FLOAT, false)
  }

  setState({ label, confidence, novelty }) {
    this.label = label
    this.findMiddles()
    if (!this.gl) return
    this.fill("label", label, 1, label.BYTES_PER_ELEMENT === 1 ? this.gl.UNSIGNED_BYTE : this.gl.UNSIGNED_SHORT, false)
    this.fill("confidence", confidence, 1, this.gl.UNSIGNED_BYTE, true)
    this.fill("novelty", novelty, 1, this.gl.UNSIGNED_BYTE, true)
    this.draw()
  }

  fill(name, array, size, type, normalised) {
    const gl = this.gl
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name])
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW)
    this.buffers[name].form = [size, type, normalised]
  }

  // Where the name of each class is written: in the middle of its rows, or of some thousand of them.
  findMiddles() {
    const xs = new Map(), step = Math.max(1, Math.floor(this.n / 20000))
    for (let row = 0; row < this.n; row += step) {
      const place = this.label[row] - 1
      if (place < 0) continue
      if (!xs.has(place)) xs.set(place, [[], []])
      const [x, y] = xs.get(place)
      x.push(this.places[2 * row])
      y.push(this.places[2 * row + 1])
    }
    const middle = (values) => values.sort((one, other) => one - other)[values.length >> 1]
    this.middles = [...xs].sort((one, other) => other[1][0].length - one[1][0].length).slice(0, MOST_NAMES).map(([place, [x, y]]) => [place, middle(x), middle(y)])
  }

  setClasses(classes) {
    this.classes = classes
    if (!this.gl) return
    const n = classes.length
    const rows = Math.ceil((n + 1) / 256)
    const colours = new Uint8Array(256 * rows * 4).fill(255)
    const none = this.dark.matches ? [0.55, 0.6, 0.65] : [0.6, 0.63, 0.67]
    for (let place = 0; place <= n; place++) {
      const colour = place === 0 ? none : colourOf(place - 1, this.dark.matches)
      for (let part = 0; part < 3; part++) colours[4 * place + part] = Math.round(255 * colour[part])
    }
    const gl = this.gl
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours)
    this.draw()
  }

  colourBy(name) {
    this.by = ["label", "confidence", "novelty"].indexOf(name)
    this.draw()
  }

  draw() {
    if (this.waiting || !this.label || !this.gl) return
    this.waiting = true
    requestAnimationFrame(() => { this.waiting = false; this.paint() })
  }

  paint() {
    const gl = this.gl, box = this.canvas.parentElement.getBoundingClientRect()
    if (!box.width || !box.height) return
    const parts = { place: "place", label: "label", sure: this.by === 2 ? "novelty" : "confidence" }
    if (Object.values(parts).some((name) => !this.buffers[name]?.form)) return // not all are filled yet
    const ratio = Math.min(devicePixelRatio || 1, 2)
    for (const canvas of [this.canvas, this.overlay]) {
      const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)]
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height }
    }
    gl.viewport(0, 0, this.canvas.width, this.canvas.height)
    gl.clearColor(0, 0, 0, 0)
    gl.clear(gl.COLOR_BUFFER_BIT)
    const at = (name) => gl.getUniformLocation(this.program, name)
    this.size = [box.width, box.height]
    this.shape = [Math.min(1, box.height / box.width), Math.min(1, box.width / box.height)]
    gl.uniform2fv(at("middle"), this.middle)
    gl.uniform1f(at("zoom"), this.zoom)
    gl.uniform2fv(at("shape"), this.shape)
    gl.uniform1f(at("size"), ratio * Math.max(2, Math.min(9, 500 * Math.sqrt(this.zoom) / Math.sqrt(this.n))))
    gl.uniform1f(at("faint"), 0.35)
    gl.uniform1i(at("by"), this.by ? 1 : 0)
    const dark = this.dark.matches
    gl.uniform3fv(at("low"), this.by === 2 ? [0.55, 0.6, 0.65] : dark ? [1, 0.58, 0.42] : [0.85, 0.28, 0])
    gl.uniform3fv(at("high"), this.by === 2 ? (dark ? [1, 0.58, 0.42] : [0.85, 0.28, 0]) : dark ? [0.42, 0.73, 0.99] : [0.12, 0.47, 0.71])
    for (const [name, buffer] of Object.entries(parts)) {
      const where = gl.getAttribLocation(this.program, name)
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer])
      gl.enableVertexAttribArray(where)
      gl.vertexAttribPointer(where, ...this.buffers[buffer].form, 0, 0)
    }
    gl.drawArrays(gl.POINTS, 0, this.n)
    this.paintOverlay(ratio)
    this.painted = (this.painted || 0) + 1
  }

  paintOverlay(ratio) {
    const pen = this.overlay.getContext("2d")
    pen.clearRect(0, 0, this.overlay.width, this.overlay.height)
    pen.strokeStyle = getComputedStyle(this.overlay).color
    pen.lineWidth = 2 * ratio
    if (this.chosen.length) {
      pen.globalAlpha = 0.8
      const step = Math.ceil(this.chosen.length / 4000) // of very many, every so-manieth is ringed
      for (let place = 0; place < this.chosen.length; place += step) this.ring(pen, this.chosen[place], 3 * ratio, ratio)
      pen.globalAlpha = 1
    }
    if (this.by === 0) this.paintNames(pen, ratio)
    if (this.current >= 0) this.ring(pen, this.current, 9 * ratio, ratio)
    if (this.path && this.path.length > 1) {
      pen.beginPath()
      for (const [x, y] of this.path) pen.lineTo(x * ratio, y * ratio)
      pen.stroke()
    }
  }

  paintNames(pen, ratio) {
    const style = getComputedStyle(this.overlay)
    pen.font = `600 ${12 * ratio}px ${style.fontFamily}`
    pen.textAlign = "center"
    pen.textBaseline = "middle"
    pen.lineJoin = "round"
    const taken = [] // names that would lie on others are left out; classes with many rows come first
    for (const [place, x, y] of this.middles) {
      const name = this.classes[place]
      if (name === undefined) continue
      const text = name.length > 24 ? `${name.slice(0, 23)}…` : name, [left, top] = this.toScreen(x, y).map((value) => value * ratio)
      const half = pen.measureText(text).width / 2 + 4 * ratio
      if (taken.some((other) => Math.abs(other[0] - left) < other[2] + half && Math.abs(other[1] - top) < 15 * ratio)) continue
      taken.push([left, top, half])
      pen.strokeStyle = style.getPropertyValue("--page")
      pen.lineWidth = 4 * ratio
      pen.strokeText(text, left, top)
      pen.fillStyle = style.color
      pen.fillText(text, left, top)
    }
    pen.strokeStyle = style.color
    pen.lineWidth = 2 * ratio
  }

  ring(pen, row, radius, ratio) {
    const [x, y] = this.toScreen(this.places[2 * row], this.places[2 * row + 1])
    pen.beginPath()
    pen.arc(x * ratio, y * ratio, radius, 0, 7)
    pen.stroke()
  }

  toScreen(x, y) {
    const [width, height] = this.size, [sx, sy] = this.shape
    return [((x - this.middle[0]) * this.zoom * sx + 1) / 2 * width, (1 - (y - this.middle[1]) * this.zoom * sy) / 2 * height]
  }

  toPlane(x, y) {
    const [width, height] = this.size, [sx, sy] = this.shape
    return [(2 * x / width - 1) / this.zoom / sx + this.middle[0], (1 - 2 * y / height) / this.zoom / sy + this.middle[1]]
  }

  show(row, chosen = this.chosen) {
    this.current = row
    this.chosen = chosen
    this.draw()
  }

  reset() {
    this.middle = [0, 0]
    this.zoom = ALL
    this.draw()
  }

  zoomBy(factor) {
    this.zoom = Math.max(0.5, Math.min(500, this.zoom * factor))
    this.draw()
  }

  mouse() {
    const pad = this.overlay
    const at = (event) => { const box = pad.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top] }
    pad.addEventListener("wheel", (event) => {
      event.preventDefault()
      const [x, y] = at(event), before = this.toPlane(x, y)
      this.zoom = Math.max(0.5, Math.min(500, this.zoom * Math.exp(-event.deltaY / 400)))
      const after = this.toPlane(x, y)
      this.middle = [this.middle[0] + before[0] - after[0], this.middle[1] + before[1] - after[1]]
      this.draw()
    }, { passive: false })
    pad.addEventListener("pointerdown", (event) => {
      pad.setPointerCapture(event.pointerId)
      this.start = at(event)
      this.last = this.start
      if (this.lassoing || event.shiftKey) this.path = [this.start]
    })
    pad.addEventListener("pointermove", (event) => {
      if (!this.start) return
      const now = at(event)
      if (this.path) this.path.push(now)
      else {
        const from = this.toPlane(...this.last), to = this.toPlane(...now)
        this.middle = [this.middle[0] + from[0] - to[0], this.middle[1] + from[1] - to[1]]
      }
      this.last = now
      this.draw()
    })
    pad.addEventListener("pointerup", (event) => {
      const now = at(event), path = this.path, start = this.start
      this.path = this.start = undefined
      if (!start) return
      if (path && path.length > 3) this.onLasso(this.within(path.map(([x, y]) => this.toPlane(x, y))))
      else if (Math.hypot(now[0] - start[0], now[1] - start[1]) < 4) this.pick(now)
      this.draw()
    })
  }

  pick([x, y]) {
    const [px, py] = this.toPlane(x, y), reach = 20 / Math.min(...this.size) / this.zoom
    let best = -1, least = reach * reach
    for (let row = 0; row < this.n; row++) {
      const dx = this.places[2 * row] - px, dy = this.places[2 * row + 1] - py, d = dx * dx + dy * dy
      if (d < least) { least = d; best = row }
    }
    if (best >= 0) this.onPick(best)
  }

  within(path) {
    const rows = [], xs = path.map((p) => p[0]), ys = path.map((p) => p[1])
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
    for (let row = 0; row < this.n; row++) {
      const x = this.places[2 * row], y = this.places[2 * row + 1]
      if (x < left || x > right || y < low || y > high) continue
      let inside = false
      for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
        const [xi, yi] = path[i], [xj, yj] = path[j]
        if ((yi > y) !== (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside
      }
      if (inside) rows.push(row)
    }
    return rows
  }
}
