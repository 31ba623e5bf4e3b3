import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { root } from "../support/manifest.ts"

const run = promisify(execFile)
const compiler = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
)

/** As strict as a project can be; the declarations themselves are checked too. */
const STRICT = {
  target: "ES2023",
  module: "NodeNext",
  moduleResolution: "NodeNext",
  strict: true,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  isolatedModules: true,
  skipLibCheck: false,
}

/** Stands for the library where a test is about the types alone, so that the compiler is quick. */
const LIBRARY = `export interface RegisteredOperations {}
export interface RegisteredRoutes {}
export interface CallError<TCode extends string, TDetails> { code: TCode; details?: TDetails }
`

/** The module that `files` import instead of the library. */
export const STUB = "./library.ts"

/** What the compiler says about some files; those that it was not asked about are left out. */
export async function faultsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  return await compile({ "library.ts": LIBRARY, ...files }, { lib: ["ES2023"], types: [] })
}

/** The same with the library as it is; with all declarations behind it, which takes its time. */
export async function faultsWithLibrary(
  files: Readonly<Record<string, string>>,
  skipLibCheck = false,
): Promise<string[]> {
  return await compile(files, {
    skipLibCheck,
    lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable", "ESNext.Disposable"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    paths: {
      "@alkdev/operations": [join(root, "src/index.ts")],
      "@alkdev/operations/type": [join(root, "src/type.ts")],
    },
  })
}

async function compile(
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "operations-types-"))
  try {
    const config = { compilerOptions: { ...STRICT, ...options }, include: ["*.ts"] }
    const all = {
      ...files,
      "tsconfig.json": JSON.stringify(config),
      "package.json": '{ "type": "module" }',
    }
    for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text)
    return await faultsIn(folder, Object.keys(files))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function faultsIn(folder: string, names: readonly string[]): Promise<string[]> {
  const args = [compiler, "-p", folder, "--pretty", "false"]
  const { stdout } = await run(process.execPath, args, {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout?: string }) => {
    if (typeof error.stdout !== "string" || !error.stdout.includes("error TS")) throw error
    return { stdout: error.stdout }
  })
  const lines = stdout.split("\n").filter((line) => line.includes("error TS"))
  // A fault without a file is in the options: nothing was checked then.
  return lines.filter(
    (line) => line.startsWith("error") || names.some((name) => line.startsWith(`${name}(`)),
  )
}
