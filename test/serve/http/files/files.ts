import { createHash } from "node:crypto"
import { Type } from "typebox"
import { defineOperation } from "../../../../src/core/define.ts"
import { createRegistry } from "../../../../src/engine/registry.ts"
import { Bytes, FileStream, toFile } from "../../../../src/type.ts"

const base = {
  namespace: "files",
  version: "1.0.0",
  description: "Of a test",
  accessControl: { requiredScopes: [] },
} as const

/** What an upload was. */
const Received = Type.Object({
  name: Type.Union([Type.String(), Type.Null()]),
  type: Type.String(),
  size: Type.Number(),
  hash: Type.String(),
  /** Whether its size was known before it was read. */
  isWhole: Type.Boolean(),
})

export const upload = defineOperation({
  ...base,
  name: "upload",
  type: "mutation",
  inputSchema: Type.Object({
    title: Type.String(),
    count: Type.Optional(Type.Number()),
    tags: Type.Optional(Type.Array(Type.String())),
    file: FileStream({ description: "The file to keep" }),
  }),
  outputSchema: Type.Object({
    title: Type.String(),
    count: Type.Optional(Type.Number()),
    tags: Type.Optional(Type.Array(Type.String())),
    file: Received,
  }),
  handler: async ({ file, ...rest }) => {
    const hash = createHash("sha256")
    let size = 0
    const reader = file.stream().getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      hash.update(value)
    }
    const { name = null, type } = file
    const isWhole = file.size !== undefined
    return { ...rest, file: { name, type, size, hash: hash.digest("hex"), isWhole } }
  },
})

export const sum = defineOperation({
  ...base,
  name: "sum",
  type: "query",
  inputSchema: Type.Object({ bytes: Bytes() }),
  outputSchema: Type.Number(),
  handler: ({ bytes }) => bytes.reduce((total, byte) => total + byte, 0),
})

const several = defineOperation({
  ...base,
  name: "several",
  type: "mutation",
  inputSchema: Type.Object({ files: Type.Array(FileStream()) }),
  outputSchema: Type.Array(Type.String()),
  handler: async ({ files }) => await Promise.all(files.map((file) => file.text())),
})

export const whole = defineOperation({
  ...base,
  name: "whole",
  type: "mutation",
  inputSchema: Bytes(),
  outputSchema: Bytes({ contentMediaType: "image/png" }),
  handler: (bytes) => bytes.toReversed(),
})

export const encoded = defineOperation({
  ...base,
  name: "encoded",
  type: "mutation",
  inputSchema: Type.Object({ text: Type.String({ contentEncoding: "base64" }) }),
  outputSchema: Type.String(),
  handler: ({ text }) => text,
})

const ignore = defineOperation({
  ...base,
  name: "ignore",
  type: "mutation",
  inputSchema: Type.Object({ file: FileStream() }),
  outputSchema: Type.String(),
  handler: () => "not read",
})

/** A stream of a repeated byte, made as it is read. */
export async function* repeated(length: number, chunk = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = new Uint8Array(chunk).fill(7)
  for (let left = length; left > 0; left -= chunk) yield bytes.subarray(0, Math.min(left, chunk))
}

export const download = defineOperation({
  ...base,
  name: "download",
  type: "query",
  inputSchema: Type.Object({
    length: Type.Number(),
    name: Type.Optional(Type.String()),
    type: Type.Optional(Type.String()),
    size: Type.Optional(Type.Number()),
  }),
  outputSchema: FileStream(),
  handler: ({ length, ...details }) => toFile(repeated(length), details),
})

const broken = defineOperation({
  ...base,
  name: "broken",
  type: "query",
  inputSchema: Type.Object({}),
  outputSchema: FileStream(),
  handler: () =>
    toFile(
      (async function* () {
        yield new Uint8Array(10)
        throw new Error("the disk is gone")
      })(),
    ),
})

export const fileOperations = [
  upload,
  sum,
  several,
  whole,
  encoded,
  ignore,
  download,
  broken,
] as const

/** A registry with operations that take and return files. */
export function fileRegistry() {
  return createRegistry(fileOperations)
}
