// Loaded before each file of `npm test`, which starts no process.
import { ChildProcess } from "node:child_process"

const { prototype } = ChildProcess as unknown as { readonly prototype: { spawn: () => never } }

prototype.spawn = () => {
  throw new Error(
    "This test starts a process, so the name of its file must end with .process.test.ts.",
  )
}
