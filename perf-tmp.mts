const root = process.argv[2]
const { compileSchema } = await import(`${root}/src/schema/compiled.ts`)
const { FromOpenAPI } = await import(`${root}/src/from-openapi.ts`)
const { readFileSync } = await import("node:fs")
const cpu = (f) => { const a = process.cpuUsage(); f(); const b = process.cpuUsage(a); return (b.user + b.system) / 1000 }
const make = (i) => ({ type: "object", $defs: { item: { type: "object", properties: { id: { type: "string" }, n: { type: "integer", default: i }, next: { $ref: "#/$defs/item" } }, required: ["id"] }, list: { type: "array", items: { $ref: "#/$defs/item" } } }, properties: { a: { $ref: "#/$defs/item" }, b: { $ref: "#/$defs/list" }, c: { anyOf: [{ $ref: "#/$defs/item" }, { type: "null" }] } } })
const value = { a: { id: "x", extra: 1 }, b: [{ id: "y" }, { id: "z", n: 2, q: 1 }], c: null }
const run = (from, n) => { for (let i = from; i < from + n; i++) { const c = compileSchema(make(i)); c.normalizer("strip").normalize(value); c.normalizer("keep").normalize(value) } }
run(0, 300)
const r = []
for (let k = 1; k < 6; k++) r.push(cpu(() => run(k * 1000, 400)))
console.log("compile+normalize 400", Math.min(...r).toFixed(0), "ms cpu")
const docs = process.argv.slice(3)
for (const d of docs) {
  const text = readFileSync(d, "utf8")
  const t = [], u = []
  for (let k = 0; k < 7; k++) { let ops; t.push(cpu(() => { ops = FromOpenAPI(text, { namespace: "x", baseUrl: "https://x.test" }) })); u.push(cpu(() => { for (const o of ops) { o.inputSchema; o.outputSchema; o.errorSchemas } })) }
  console.log(d.split("/").pop(), "import", Math.min(...t).toFixed(1), "schemas", Math.min(...u).toFixed(1))
}
