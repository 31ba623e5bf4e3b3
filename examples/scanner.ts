// #region scan
import { OperationRegistry, scanOperations } from "@alkdev/operations"
import { nodeFS, scanDirectory } from "@alkdev/operations/node"

const found = await scanDirectory(new URL("./operations/", import.meta.url), {
  // Compiling TypeScript and what it imports may take longer than the 5 seconds of the default.
  importTimeout: 60_000,
  onProblem: ({ file, reason }) => console.log(`${file.split("/").pop()}: ${reason}`),
})

const registry = new OperationRegistry().registerAll(found)
for (const { namespace, name, description } of registry.list()) {
  console.log(`${namespace}.${name}: ${description}`)
}
console.log((await registry.execute("math.add", { left: 2, right: 3 })).data)
// #endregion

// #region specs
const specs = await scanOperations("operations", nodeFS, { onProblem: () => {} })

console.log(specs.map(({ name }) => name))
// #endregion
