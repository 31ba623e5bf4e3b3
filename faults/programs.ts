import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildSync } from "esbuild"

const PROGRAMS = ["worker.ts", "caller-process.ts", "hub-process.ts"] as const

/** The programs that the lab runs as separate processes. */
export type Program = (typeof PROGRAMS)[number]

let folder: string | undefined

/**
 * The path of a program, as one file for `node`.
 *
 * Built once: a worker then starts in a tenth of the time that its sources would take to load, and has no compiler in
 * its memory.
 */
export function programPath(program: Program): string {
  folder ??= build()
  return join(folder, program.replace(/\.ts$/, ".mjs"))
}

/** Removes the built programs. Also called when this process exits regularly. */
export function removePrograms(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  folder = undefined
}

process.once("exit", removePrograms)

function build(): string {
  const outdir = mkdtempSync(join(tmpdir(), "operations-faults-programs-"))
  buildSync({
    entryPoints: PROGRAMS.map((program) => join(import.meta.dirname, program)),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // Bundled CommonJS packages use `require`.
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
    logLevel: "error",
  })
  return outdir
}
