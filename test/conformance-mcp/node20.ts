// Lets the referee start where `fs.globSync` is not there yet (Node 20): commands that are not used here need it.

import { register } from "node:module"

const fs = `
  export * from "node:fs"
  export { default } from "node:fs"
  export function globSync() { throw new Error("Not before Node 22.") }
`
const hooks = `
  const replacement = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}
  export async function resolve(specifier, context, next) {
    const isReferee = context.parentURL?.includes("/@modelcontextprotocol/conformance/")
    if (!isReferee || !/^(node:)?fs$/.test(specifier)) return await next(specifier, context)
    return { url: replacement, format: "module", shortCircuit: true }
  }
`
if (Number(process.versions.node.split(".", 1)[0]) < 22) {
  register(`data:text/javascript,${encodeURIComponent(hooks)}`)
}
