// Screenshots reduced to where there is how much ink, so that fonts do not matter and charts do.

import { PNG } from 'pngjs'

// A cell is so many pixels of the screenshot wide and high: about a line and a half of text.
const CELL = 24
// Of 255. A cell in another font differs by less; one that has lost a chart's bar or a red row's
// paper does not.
const TOLERANCE = 26
// Text that breaks elsewhere moves what is below by a line. A cell may look like one that is so many
// rows further up or down.
const DRIFT = 8
// The share of cells that may look like none of those.
const ODD = 0.01
// The share of a page's height by which it may grow or shrink.
const HEIGHT = 0.06

/** The mean colour of each cell, as a PNG. */
export function shrink (png) {
  const { width, height, data } = PNG.sync.read(png)
  const small = new PNG({ width: Math.ceil(width / CELL), height: Math.ceil(height / CELL) })
  for (let row = 0; row < small.height; row++) {
    for (let column = 0; column < small.width; column++) {
      const sums = [0, 0, 0]
      let count = 0
      for (let y = row * CELL; y < Math.min(height, (row + 1) * CELL); y++) {
        for (let x = column * CELL; x < Math.min(width, (column + 1) * CELL); x++) {
          for (const part of [0, 1, 2]) sums[part] += data[(y * width + x) * 4 + part]
          count++
        }
      }
      const at = (row * small.width + column) * 4
      for (const part of [0, 1, 2]) small.data[at + part] = Math.round(sums[part] / count)
      small.data[at + 3] = 255
    }
  }
  return PNG.sync.write(small)
}

/** What differs by more than a font does. */
export function compare (expectedPng, foundPng) {
  const [expected, found] = [expectedPng, foundPng].map((png) => PNG.sync.read(png))
  if (expected.width !== found.width) return [`${found.width} cells wide, not ${expected.width}`]
  const growth = Math.abs(found.height - expected.height) / expected.height
  if (growth > HEIGHT) return [`${found.height} cells high, expected about ${expected.height}`]
  const lost = odd(expected, found)
  const added = odd(found, expected)
  const most = ODD * expected.width * expected.height
  return [['lost or moved', lost], ['new', added]]
    .filter(([, cells]) => cells.length > most)
    .map(([what, cells]) => {
      const [x, y] = cells[Math.floor(cells.length / 2)]
      return `${cells.length} cells of ${CELL} pixels ${what}, at most ${Math.floor(most)}; ` +
        `one of them is at ${x * CELL}, ${y * CELL}`
    })
}

/** Cells of `one` that look like no cell of `other` near the same place. */
function odd (one, other) {
  const cells = []
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) {
      if (!isNear(one, other, x, y)) cells.push([x, y])
    }
  }
  return cells
}

function isNear (one, other, x, y) {
  for (let row = Math.max(0, y - DRIFT); row <= Math.min(other.height - 1, y + DRIFT); row++) {
    const [a, b] = [(y * one.width + x) * 4, (row * other.width + x) * 4]
    const differs = [0, 1, 2].some((part) => {
      return Math.abs(one.data[a + part] - other.data[b + part]) > TOLERANCE
    })
    if (!differs) return true
  }
  return false
}
