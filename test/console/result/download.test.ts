import { describe, expect, test } from "vitest"
import { downloadOf } from "../../../console/src/result/download.ts"

describe("what the console saves of a result", () => {
  test("is its JSON, or the bytes of a file with its name", () => {
    expect(downloadOf({ data: { a: 1 } }, "{}")).toEqual({
      name: "result.json",
      type: "application/json",
      content: "{}",
    })
    const file = { data: "AQI=", binary: { "": { name: "a.png", type: "image/png" } } }
    expect(downloadOf(file, "")).toEqual({
      name: "a.png",
      type: "image/png",
      content: new Uint8Array([1, 2]),
    })
  })

  test("has no type that a browser would run, and a name if there is none", () => {
    const page = { data: "AQI=", binary: { "": { type: "text/html" } } }
    expect(downloadOf(page, "")).toMatchObject({
      name: "result.bin",
      type: "application/octet-stream",
    })
    expect(downloadOf({ data: "AQI=", binary: { "": "Uint8Array" } }, "")).toMatchObject({
      name: "result.bin",
      content: new Uint8Array([1, 2]),
    })
  })
})
