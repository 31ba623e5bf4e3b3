import type { Plugin } from "esbuild"
import { readFile } from "node:fs/promises"

/** A constant at the top of a formatted module that is computed: what it spans begins and ends at the margin. */
const COMPUTED =
  /^((?:const|let|var) [\w$]+ = )((?:new |\{$|[\w$]+[.(])(?:.*|.*\n(?:(?:[ \t\])}].*)?\n)*[\])}].*));$/gm

/**
 * Marks the constants of a package's modules as free of side effects, so that bundlers remove unused ones.
 *
 * A bundler keeps `new RegExp(…)` and `{ ...defaults }`, and whatever they refer to, because both may run code.
 */
export function pureConstants(modules: RegExp): Plugin {
  return {
    name: "pure-constants",
    setup(pass) {
      pass.onLoad({ filter: modules }, async ({ path }) => {
        const text = await readFile(path, "utf8")
        return { contents: text.replace(COMPUTED, "$1/* @__PURE__ */ (() => ($2))();") }
      })
    },
  }
}
