// Loaded before each file of `npm run test:quick`, which starts no process.
import { ChildProcess } from "node:child_process"

const { prototype } = ChildProcess as unknown as { readonly prototype: { spawn: () => never } }

prototype.spawn = () => {
  throw new Error(
    "This test starts a process. Let test/support/quick-files.ts leave its file out of `npm run test:quick`.",
  )
}
