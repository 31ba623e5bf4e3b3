import { deflateSync } from "node:zlib"

type Colour = readonly [red: number, green: number, blue: number]

/** The colors of a note: its paper and its ink. */
const PAPER = {
  yellow: [255, 236, 139],
  green: [190, 235, 170],
  blue: [173, 216, 240],
  pink: [250, 190, 205],
} as const satisfies Record<string, Colour>

export type Color = keyof typeof PAPER
export const COLORS = Object.keys(PAPER) as [Color, ...Color[]]

const WIDTH = 160
const HEIGHT = 110
const FOLD = 22

/** Draws a note as a PNG image: paper with a folded corner, and a stroke for each word. */
export function drawCard(color: Color, words: readonly string[]): Buffer {
  const paper = PAPER[color]
  const pixels = Buffer.alloc((WIDTH * 3 + 1) * HEIGHT)
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) paint(pixels, x, y, paperAt(paper, x, y))
  }
  let x = 12
  let y = 16
  for (const word of words) {
    const length = Math.min(word.length * 4, WIDTH - 24)
    if (x + length > WIDTH - 12) [x, y] = [12, y + 12]
    if (y > HEIGHT - 14) break
    for (let at = x; at < x + length; at++) {
      for (let thick = 0; thick < 3; thick++) paint(pixels, at, y + thick, [70, 65, 60])
    }
    x += length + 6
  }
  return toPNG(pixels)
}

function paperAt(paper: Colour, x: number, y: number): Colour {
  const corner = WIDTH - x + (HEIGHT - y)
  if (corner < FOLD) return [255, 255, 255]
  if (corner < FOLD + 8) return paper.map((part) => part * 0.75) as unknown as Colour
  return paper
}

function paint(pixels: Buffer, x: number, y: number, colour: Colour): void {
  pixels.set(colour, y * (WIDTH * 3 + 1) + 1 + x * 3)
}

function toPNG(pixels: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // Eight bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1A\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels)),
    chunk("IEND", Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([size, named, sum])
}

/** The checksum after each chunk of a PNG file. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum >>> 0
}
