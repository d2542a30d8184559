// The map of a report: colours, tooltips and buttons. Bokeh draws; nothing is fetched.
(() => {
  "use strict"
  const read = (id) => JSON.parse(document.getElementById(id).textContent)
  const about = read("map-about")
  const box = document.getElementById("map")
  const darkPage = window.matchMedia("(prefers-color-scheme: dark)")
  let names = null // ids of the rows, once they are unpacked
  let only = null // the class that is picked out

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))
    return (await new Response(stream).text()).split("\n")
  }

  function tooltip(source, {index}) {
    const line = (text, bold) => {
      const element = document.createElement(bold ? "strong" : "div")
      element.textContent = text // text, never HTML: ids and labels are the user's
      element.style.cssText = "display:block;overflow-wrap:anywhere"
      return element
    }
    const card = document.createElement("div")
    card.style.cssText = "color:#1b2530;font:13px/1.4 system-ui,sans-serif;max-width:16rem"
    const sure = source.data.sure[index]
    const label = source.data.label[index]
    const nothing = label === about.classes.length - 1
    const how = source.data.given[index] ? "label given" : nothing ? "no view" : `confidence ${sure} %`
    card.append(line(names ? names[index] : `row ${index}`, true), line(about.classes[label]), line(how))
    return card
  }

  function start(view) {
    const plot = view.model
    const find = (name) => plot.document.get_model_by_name(name)
    const dots = find("dots"), rings = find("rings"), written = find("names"), wheel = find("wheel"), hover = find("hover")
    const [byLabel, bySure] = plot.tags
    const showNames = document.getElementById("show-names")
    hover.tooltips = tooltip

    function paint() {
      const theme = darkPage.matches ? "dark" : "light"
      const faded = theme === "dark" ? "#39434e" : "#d3d8de"
      byLabel.palette = about.colours[theme].map((colour, number) => only === null || only === number ? colour : faded)
      bySure.palette = about.shades[theme]
      rings.glyph.line_color = theme === "dark" ? "#f2f5f8" : "#1b2530"
      written.glyph.text_color = theme === "dark" ? "#f2f5f8" : "#1b2530"
      written.glyph.background_fill_color = theme === "dark" ? "#191f26" : "#ffffff"
    }

    // Names of classes where there is room for them, the largest class first; of one that is picked out, only its own.
    const pen = document.createElement("canvas").getContext("2d")
    pen.font = "bold 12px sans-serif"
    function writeNames() {
      const taken = [], data = {x: [], y: [], text: []}
      const shown = showNames.checked ? about.names.filter(([number]) => only === null || only === number) : []
      const {x_scale: across, y_scale: down, bbox: {width, height}} = view.frame
      for (const [, text, x, y] of shown) {
        const half = pen.measureText(text).width / 2 + 5
        if (across.compute(x) < 0 || across.compute(x) > width || down.compute(y) < 0 || down.compute(y) > height) continue
        const middle = Math.max(half, Math.min(width - half, across.compute(x))) // within the map
        const foot = Math.max(30, down.compute(y))
        const room = [middle - half, foot - 29, middle + half, foot - 5]
        const meets = (other) => room[0] < other[2] && other[0] < room[2] && room[1] < other[3] && other[1] < room[3]
        if (taken.some(meets)) continue
        taken.push(room)
        data.x.push(across.invert(middle)), data.y.push(down.invert(foot)), data.text.push(text)
      }
      written.data_source.data = data
      box.dataset.names = String(data.text.length)
    }
    let waiting = false
    const writeSoon = () => {
      if (waiting) return
      waiting = true
      requestAnimationFrame(() => { waiting = false; writeNames() })
    }

    function colourBy(what) {
      const field = what === "confidence" ? "sure" : "label"
      dots.glyph.fill_color = {field, transform: field === "sure" ? bySure : byLabel}
      box.dataset.colour = what
      document.getElementById("legend-label").hidden = what !== "label"
      document.getElementById("legend-confidence").hidden = what !== "confidence"
    }

    for (const radio of document.querySelectorAll("input[name=colour]")) {
      radio.addEventListener("change", () => colourBy(radio.value))
    }
    const keys = [...document.querySelectorAll("#legend-label button")]
    for (const key of keys) {
      key.addEventListener("click", () => {
        only = only === Number(key.value) ? null : Number(key.value)
        for (const other of keys) other.setAttribute("aria-pressed", String(only === Number(other.value)))
        paint()
        writeNames()
      })
    }
    const showGiven = document.getElementById("show-given")
    const showRings = () => { rings.visible = showGiven.checked }
    showGiven.addEventListener("change", showRings)
    showRings()
    // Through the view, as Bokeh's own tools do: a range that is only set is computed again when names are written.
    const zoom = (factor) => {
      const scaled = (range) => {
        const middle = (range.start + range.end) / 2, half = (range.end - range.start) / 2 * factor
        return new Map([[range, {start: middle - half, end: middle + half}]])
      }
      view.update_range({xrs: scaled(plot.x_range), yrs: scaled(plot.y_range)})
    }
    document.getElementById("zoom-in").addEventListener("click", () => zoom(0.6))
    document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / 0.6))
    document.getElementById("zoom-reset").addEventListener("click", () => plot.reset.emit())
    // The wheel zooms once the map was touched, and scrolls the page before and after.
    document.addEventListener("pointerdown", (event) => {
      wheel.active = box.contains(event.target)
    })
    darkPage.addEventListener("change", paint)
    showNames.addEventListener("change", writeNames)
    for (const range of [plot.x_range, plot.y_range]) range.change.connect(writeSoon)
    new ResizeObserver(() => setTimeout(writeSoon, 200)).observe(box)
    paint()
    writeNames()
    colourBy("label")
    box.dataset.ready = "true"
  }

  const unpacked = about.ids === null ? Promise.resolve(null) : unpack(about.ids)
  unpacked.then((texts) => { names = texts }, () => { names = null }) // an old browser shows row numbers
  Bokeh.embed.embed_item(read("map-item")).then((views) => start([...views][0])).catch((error) => {
    box.textContent = "The map could not be drawn in this browser."
    console.error(error)
  })
})()
