// #region local
import {
  createRegistry,
  defineOperation,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  unwrap,
  unwrapOrThrow,
} from "@alkdev/operations"
import { decodeEnvelope, encodeEnvelope } from "@alkdev/operations/schemas"
import { Type } from "@alkdev/operations/type"

const read = defineOperation({
  type: "query",
  description: "Reads a file",
  inputSchema: Type.Object({ path: Type.String() }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: ({ path }) => ({ path, bytes: new Uint8Array([79, 75]) }),
})

const registry = createRegistry({ file: { read } }, { output: "strict" })

const envelope = await registry.execute("file.read", { path: "a.txt" })
console.log(envelope.data, envelope.meta.source)
// #endregion

// #region http
const fetched = httpEnvelope(
  { name: "Rex" },
  { statusCode: 200, headers: { etag: '"7"' }, contentType: "application/json" },
)
if (fetched.meta.source === "http") console.log(fetched.meta.statusCode, unwrap(fetched))
// #endregion

// #region mcp
const failed = mcpEnvelope(null, {
  isError: true,
  content: [{ type: "text", text: "The disk is full." }],
})

console.log(unwrap(failed))
try {
  unwrapOrThrow(failed)
} catch (error) {
  console.log(String(error))
}
// #endregion

// #region detect
console.log(isResponseEnvelope({ data: 1, meta: { source: "local" } }))
console.log(isResponseEnvelope(localEnvelope(1, "demo.one")))
// #endregion

// #region wire
const wire = encodeEnvelope(envelope)
console.log(JSON.stringify({ data: wire.data, binary: wire.binary }))

const back = decodeEnvelope(JSON.parse(JSON.stringify(wire)))
console.log(back.data)

const nothing = encodeEnvelope({ data: undefined, meta: envelope.meta })
console.log(Object.keys(nothing), decodeEnvelope(JSON.parse(JSON.stringify(nothing))).data)
// #endregion
