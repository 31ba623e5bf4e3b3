import { deflateSync, inflateSync } from "node:zlib"

/** A picture: three bytes for each pixel, row by row. */
interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1A\n", "latin1")
const PALETTE = 256

/**
 * The same picture with at most 256 colours: a third of the bytes, and hardly a difference to be seen in
 * screenshots, which are mostly plain areas.
 *
 * Takes what browsers write: eight bits a channel, with or without transparency, which is left out.
 */
export function shrinkPng(file: Uint8Array): Buffer {
  const picture = decode(Buffer.from(file))
  const { palette, indexes } = quantise(picture)
  const { width, height } = picture
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap((color) => bytesOf(color)))),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ])
}

function decode(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new TypeError("This is no PNG.")
  const parts: Buffer[] = []
  let [width, height, depth, kind] = [0, 0, 0, 0]
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at)
    const type = file.toString("latin1", at + 4, at + 8)
    const data = file.subarray(at + 8, at + 8 + length)
    if (type === "IHDR") {
      ;[width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
      ;[depth = 0, kind = 0] = [data[8], data[9]]
    }
    if (type === "IDAT") parts.push(data)
    at += length + 12
  }
  if (depth !== 8 || (kind !== 2 && kind !== 6)) throw new TypeError("A PNG of another kind.")
  const channels = kind === 2 ? 3 : 4
  const raw = unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels)
  const pixels = new Uint8Array(width * height * 3)
  for (let at = 0; at < width * height; at++) {
    pixels.set(raw.subarray(at * channels, at * channels + 3), at * 3)
  }
  return { width, height, pixels }
}

/** Takes back what each row was changed by to be easier to compress. */
function unfilter(data: Buffer, stride: number, height: number, step: number): Uint8Array {
  const out = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)] ?? 0
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < step ? 0 : (out[at - step] ?? 0)
      const up = y === 0 ? 0 : (out[at - stride] ?? 0)
      const corner = x < step || y === 0 ? 0 : (out[at - stride - step] ?? 0)
      out[at] = (data[y * (stride + 1) + 1 + x] ?? 0) + guess(filter, left, up, corner)
    }
  }
  return out
}

function guess(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left
    case 2:
      return up
    case 3:
      return (left + up) >> 1
    case 4:
      return paeth(left, up, corner)
    default:
      return 0
  }
}

function paeth(left: number, up: number, corner: number): number {
  const sum = left + up - corner
  const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** The colours that are used most; every other becomes the nearest of these. */
function quantise({ pixels }: Picture): { palette: number[]; indexes: Uint8Array } {
  const colors = new Uint32Array(pixels.length / 3)
  const counts = new Map<number, number>()
  for (let at = 0; at < colors.length; at++) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at * 3, at * 3 + 3)
    const color = (red << 16) | (green << 8) | blue
    colors[at] = color
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  const ranked = [...counts].toSorted(([, one], [, other]) => other - one)
  const palette = ranked.slice(0, PALETTE).map(([color]) => color)
  const places = new Map(ranked.map(([color]) => [color, nearest(palette, color)]))
  return { palette, indexes: Uint8Array.from(colors, (color) => places.get(color) ?? 0) }
}

function nearest(palette: readonly number[], color: number): number {
  const [red, green, blue] = bytesOf(color)
  let [best, smallest] = [0, Infinity]
  for (const [index, other] of palette.entries()) {
    const [r, g, b] = bytesOf(other)
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
    if (distance < smallest) [best, smallest] = [index, distance]
    if (distance === 0) break
  }
  return best
}

function bytesOf(color: number): [number, number, number] {
  return [color >> 16, (color >> 8) & 255, color & 255]
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([size, named, sum])
}

/** The check sum that PNG has behind each of its parts. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum >>> 0
}
