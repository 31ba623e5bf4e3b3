import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import type ts from "typescript-6.0"

/** The compilers that the package's types are checked with, oldest first, by the name they are installed under. */
export const COMPILERS = [
  "typescript-5.6",
  "typescript-5.9",
  "typescript-6.0",
  "typescript",
] as const

export type Compiler = (typeof COMPILERS)[number]

/** What a compiler reports about a program. */
export interface Compilation {
  /** The errors; empty if the program compiles. */
  readonly errors: readonly string[]
  /** Types made from generic ones: the same on every machine. */
  readonly instantiations: number
  /** Seconds from start to end. */
  readonly seconds: number
  readonly checkSeconds: number
  /** The declarations of the program, where it was asked for them. */
  readonly declarations: string
}

/** An application with the package's declarations installed. */
export interface TypeApplication extends AsyncDisposable {
  /** Where it is. */
  readonly folder: string
  /** Compiles in a separate process, so that times count. */
  compile(compiler: Compiler, program: string, options?: object): Promise<Compilation>
  /**
   * The same without times. Programs of a compiler that is JavaScript share this process and what it has parsed, which is
   * most of its work.
   */
  check(compiler: Compiler, program: string): Promise<Checked>
}

/** What a compiler reports about a program, without times. */
export type Checked = Omit<Compilation, "seconds" | "checkSeconds">

const root = resolve(import.meta.dirname, "../../..")
const run = promisify(execFile)

/**
 * Emits the package's declarations into a separate application, in which programs can be compiled.
 *
 * It also has these packages of the benchmark.
 */
export async function createTypeApplication(
  peers: readonly string[] = [],
): Promise<TypeApplication> {
  const folder = await mkdtemp(join(tmpdir(), "operations-types-"))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const installed = join(folder, "node_modules/@alkdev/operations")
    await mkdir(installed, { recursive: true })
    await writeFile(join(folder, "package.json"), `{ "type": "module" }`)
    await writeFile(join(installed, "package.json"), await readFile(join(root, "package.json")))
    for (const name of ["typebox", "zod", "valibot"]) {
      await symlink(
        join(root, "node_modules", name),
        join(folder, "node_modules", name),
        "junction",
      )
    }
    for (const name of peers) {
      await mkdir(join(folder, "node_modules", name, ".."), { recursive: true })
      await symlink(
        join(root, "tools/bench/node_modules", name),
        join(folder, "node_modules", name),
        "junction",
      )
    }
    const outDir = join(installed, "dist")
    // CI has just built it in a folder without an older one.
    if (process.env["OPERATIONS_BUILT"] === "1") await copyDeclarations(outDir)
    else {
      const emit = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", outDir]
      await run(process.execPath, [programOf("typescript"), ...emit], { cwd: root })
    }
  } catch (error) {
    await remove()
    throw error
  }
  let count = 0
  const checkers = new Map<Compiler, Checker>()
  const write = async (program: string): Promise<string> => {
    const at = join(folder, `${(count += 1)}`)
    await mkdir(at)
    await writeFile(join(at, "program.ts"), program)
    return at
  }
  const application: TypeApplication = {
    folder,
    async compile(compiler, program, options = {}) {
      const at = await write(program)
      await writeFile(
        join(at, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files: ["program.ts"] }),
      )
      const output = await outputOf(compiler, at)
      const figure = (name: string): number =>
        Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output)?.[1])
      return {
        errors: output.split(/\n(?=\S)/).filter((line) => line.includes("error TS")),
        instantiations: figure("Instantiations"),
        seconds: figure("Total time"),
        checkSeconds: figure("Check time"),
        declarations: await readFile(join(at, "out/program.d.ts"), "utf8").catch(() => ""),
      }
    },
    async check(compiler, program) {
      if (compiler === "typescript") return await application.compile(compiler, program)
      const check = checkers.get(compiler) ?? createChecker(compiler, folder)
      checkers.set(compiler, check)
      return check(program)
    },
    [Symbol.asyncDispose]: remove,
  }
  return application
}

async function copyDeclarations(outDir: string): Promise<void> {
  await cp(join(root, "dist"), outDir, {
    recursive: true,
    filter: async (path) => path.endsWith(".d.ts") || (await stat(path)).isDirectory(),
  })
}

const OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2023", "DOM"],
  types: [],
  skipLibCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
  outDir: "out",
}

async function outputOf(compiler: Compiler, cwd: string): Promise<string> {
  try {
    return (await run(process.execPath, [programOf(compiler), "--extendedDiagnostics"], { cwd }))
      .stdout
  } catch (error) {
    // A compiler that finds errors exits with an error; its output is the result.
    const { stdout } = error as { stdout?: string }
    if (stdout?.includes("Instantiations:")) return stdout
    throw error
  }
}

type Checker = (program: string) => Checked

/** Compiles programs in this process, one after the other. What they import is resolved and parsed once. */
function createChecker(compiler: Compiler, folder: string): Checker {
  const compilers = createRequire(import.meta.url)(compiler) as typeof ts
  const file = join(folder, "program.ts")
  const { options } = compilers.convertCompilerOptionsFromJson(OPTIONS, folder)
  const host = compilers.createCompilerHost(options)
  // As the command does: comments in declarations mean nothing to it.
  host.jsDocParsingMode = compilers.JSDocParsingMode.ParseForTypeErrors
  const disk = { ...host }
  const parsed = new Map<string, ts.SourceFile | undefined>()
  let program: ts.Program | undefined
  return (text) => {
    host.getSourceFile = (path, settings, ...rest) => {
      if (path === file) return compilers.createSourceFile(path, text, settings)
      if (!parsed.has(path)) parsed.set(path, disk.getSourceFile(path, settings, ...rest))
      return parsed.get(path)
    }
    let declarations = ""
    host.writeFile = (_, emitted) => (declarations += emitted)
    program = compilers.createProgram([file], options, host, program)
    const found = [...compilers.getPreEmitDiagnostics(program), ...program.emit().diagnostics]
    const output = compilers.formatDiagnostics(found, host)
    return {
      errors: output.split(/\n(?=\S)/).filter((line) => line.includes("error TS")),
      instantiations: program.getInstantiationCount(),
      declarations,
    }
  }
}

function programOf(compiler: Compiler): string {
  const manifest = createRequire(import.meta.url).resolve(`${compiler}/package.json`)
  return resolve(manifest, "../bin/tsc")
}

/** A program that defines operations, and calls some of them through a registry, right and wrong. */
export function programWith({ operations, calls }: { operations: number; calls: number }): string {
  const all = Array.from({ length: operations }, (_, at) => at)
  const called = all.filter((at) => calls > 0 && at % (operations / calls) === 0)
  return [
    `import { Type } from "typebox"`,
    `import { createRegistry, defineOperation } from "@alkdev/operations"`,
    ...all.map(
      (at) => `const op${at} = defineOperation({
  namespace: "ns${at % 20}",
  name: "op${at}",
  type: "query",
  description: "",
  inputSchema: ${schemaOf(at)},
  outputSchema: Type.Object({ id: Type.String(), n: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: (input) => ({ id: input.a, n: input.b${at} ?? 0 }),
})`,
    ),
    `export const registry = createRegistry([${all.map((at) => `op${at}`).join(", ")}])`,
    ...called.map(
      (
        at,
      ) => `const { data: data${at} } = await registry.execute("ns${at % 20}.op${at}", { a: "x", c: [] })
export const n${at}: number = data${at}.n
// @ts-expect-error the input misses c
await registry.execute("ns${at % 20}.op${at}", { a: "x" })`,
    ),
  ].join("\n")
}

// Every operation has a different schema, because the compiler caches equal ones.
function schemaOf(at: number): string {
  return `Type.Object({ a: Type.String(), b${at}: Type.Optional(Type.Number()), c: Type.Array(Type.Object({ d: Type.Boolean() })) })`
}
