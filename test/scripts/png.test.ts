import { deflateSync, inflateSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { shrinkPng } from "../../scripts/lib/png.ts"

type Pixel = readonly [number, number, number]

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1A\n", "latin1")

function chunk(type: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.length)
  // Readers of the sum are browsers; this one does not look.
  return Buffer.concat([size, Buffer.from(type, "latin1"), data, Buffer.alloc(4)])
}

/** A picture with transparency, whose rows are stored as differences to the pixel on their left. */
function encode(rows: readonly (readonly Pixel[])[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(rows[0]?.length ?? 0, 0)
  header.writeUInt32BE(rows.length, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const data = rows.flatMap((row) => {
    const bytes = row.flatMap((pixel) => [...pixel, 255])
    return [1, ...bytes.map((byte, at) => (byte - (bytes[at - 4] ?? 0)) & 255)]
  })
  const parts = [chunk("IHDR", header), chunk("IDAT", deflateSync(Buffer.from(data)))]
  return Buffer.concat([SIGNATURE, ...parts, chunk("IEND", Buffer.alloc(0))])
}

function decodeIndexed(file: Buffer): Pixel[][] {
  const parts = new Map<string, Buffer>()
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12) {
    const name = file.toString("latin1", at + 4, at + 8)
    parts.set(name, file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
  }
  const [header, palette, data] = ["IHDR", "PLTE", "IDAT"].map((name) => parts.get(name) as Buffer)
  const width = (header as Buffer).readUInt32BE(0)
  const bytes = inflateSync(data as Buffer)
  return Array.from({ length: (header as Buffer).readUInt32BE(4) }, (_row, y) =>
    Array.from({ length: width }, (_pixel, x): Pixel => {
      const at = (bytes[y * (width + 1) + 1 + x] ?? 0) * 3
      return [...(palette as Buffer).subarray(at, at + 3)] as unknown as Pixel
    }),
  )
}

describe("shrinkPng", () => {
  test("keeps a picture of few colours as it is", () => {
    const rows: Pixel[][] = [
      [
        [255, 0, 0],
        [0, 255, 0],
        [1, 2, 3],
      ],
      [
        [9, 9, 9],
        [255, 0, 0],
        [255, 255, 255],
      ],
    ]
    expect(decodeIndexed(shrinkPng(encode(rows)))).toEqual(rows)
  })

  test("takes the nearest colour where there are too many", () => {
    const rows = Array.from({ length: 20 }, (_row, y) =>
      Array.from({ length: 20 }, (_pixel, x): Pixel => [y * 12, x * 12, 100]),
    )
    const shown = decodeIndexed(shrinkPng(encode(rows))).flat()
    expect(new Set(shown.map(String)).size).toBe(256)
    for (const [at, [red, green]] of rows.flat().entries()) {
      const [r = 0, g = 0] = shown[at] ?? []
      expect(Math.hypot(r - red, g - green)).toBeLessThan(120)
    }
  })

  test("refuses what is no PNG, or one that it does not know", () => {
    expect(() => shrinkPng(Buffer.from("GIF89a"))).toThrow("no PNG")
    const grey = encode([[[1, 2, 3]]])
    grey[25] = 0
    expect(() => shrinkPng(grey)).toThrow("another kind")
  })
})
