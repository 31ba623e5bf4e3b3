import { splitCommandLine } from "../config/command-line.ts"
import { unknownKindMessage } from "../config/field-checks.ts"
import { CallError, isCallError } from "../core/errors.ts"
import { maskValue } from "../http-client/secrets.ts"
import { type Reference, resolveReferences } from "../internal/references.ts"
import { didYouMean } from "../internal/suggest.ts"
import type { Resolve } from "./resolve-references.ts"
import { editorPlace, readSecretFile, runCommand as run } from "./config-file/secret-sources.ts"

/** Runs a program, without a shell, and returns its output. */
export type RunCommand = (words: readonly string[], cwd: string) => Promise<string>

export interface ResolverOptions {
  /** Variables for `${env:NAME}`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Base of relative paths, and working folder of commands. */
  readonly baseDir: string
  readonly runCommand?: RunCommand | undefined
}

// Beyond this number the oldest, such as renewed tokens, are no longer in use.
const MAX_SECRETS = 1000
const MIN_SECRET_LINE = 8

/** Resolves `${env:NAME}`, `${file:path}` and `${command:…}`, and masks their values in whatever is shown. */
export class Resolver {
  readonly #env: ResolverOptions["env"]
  readonly #baseDir: string
  readonly #run: RunCommand
  readonly #secrets = new Set<string>()
  readonly #cached = new Map<string, Promise<string>>()

  constructor({ env, baseDir, runCommand }: ResolverOptions) {
    this.#env = env
    this.#baseDir = baseDir
    this.#run = runCommand ?? ((words, cwd) => run(words, cwd, env))
  }

  /**
   * Resolves the references of a text. Rejects with a `CallError` that names what is missing and the
   * fix, and never shows a value.
   */
  async resolve(text: string): Promise<string> {
    return await resolveReferences(text, {
      valueOf: (part, inner) => this.#valueOf(part, inner),
      error: unresolved,
    })
  }

  /** All values that were resolved. */
  secrets(): readonly string[] {
    return [...this.#secrets]
  }

  /** Masks these values in a text. */
  mask(text: string): string {
    return this.#secrets.size === 0 ? text : maskValue(text, this.secrets())
  }

  /** Clears the cache: files are read and commands run again on next use. */
  refresh(): void {
    this.#cached.clear()
  }

  async #valueOf(part: Reference, resolve: Resolve): Promise<string> {
    switch (part.kind) {
      case "env":
        return await this.#variable(part.name, part.fallback, resolve)
      case "file": {
        const path = await resolve(part.name)
        return await this.#once(`file:${path}`, () => readSecretFile(path, this.#baseDir))
      }
      case "command":
        return await this.#command(part.name, resolve)
      case "place":
        return editorPlace(part.name, this.#baseDir)
      case "unknown":
        throw unresolved(part.name === "input" ? INPUT : unknownKindMessage(part.name))
      case "open":
        throw unresolved(`has "\${${part.name}:" without the "}" that ends it.`)
    }
  }

  async #variable(name: string, fallback: string | undefined, resolve: Resolve): Promise<string> {
    const value = Object.hasOwn(this.#env, name) ? this.#env[name] : undefined
    if (value !== undefined && value !== "") return this.#keep(value)
    if (fallback !== undefined) return await resolve(fallback)
    throw missingVariable(name, value === "", Object.keys(this.#env))
  }

  async #command(line: string, resolve: Resolve): Promise<string> {
    const split = splitCommandLine(line)
    if (split === undefined || split.length === 0) {
      const why =
        split === undefined ? "has a quotation mark that is not closed" : "names no program"
      throw unresolved(`uses \${command:…}, which ${why}.`)
    }
    // The line is split before references are resolved: a value never becomes two words.
    const words = await Promise.all(split.map(resolve))
    return await this.#once(`command:${JSON.stringify(words)}`, () =>
      this.#run(words, this.#baseDir),
    )
  }

  /** Caches successful reads; failed ones are tried again. */
  async #once(key: string, read: () => Promise<string>): Promise<string> {
    const reading = this.#cached.get(key) ?? read()
    this.#cached.set(key, reading)
    try {
      return this.#keep(await reading)
    } catch (thrown) {
      if (this.#cached.get(key) === reading) this.#cached.delete(key)
      if (isCallError(thrown)) throw thrown
      throw unresolved(this.mask(String((thrown as Error).message)))
    }
  }

  #keep(value: string): string {
    const lines = value.includes("\n") ? value.split(/\r?\n/) : []
    // A single line of a key is a secret, too.
    for (const secret of [value, ...lines.filter((line) => line.length >= MIN_SECRET_LINE)]) {
      this.#secrets.delete(secret)
      this.#secrets.add(secret)
    }
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= MAX_SECRETS) break
      this.#secrets.delete(oldest)
    }
    return value
  }
}

const INPUT =
  "uses ${input:…}, for which an editor would ask. Write ${env:NAME} instead, and set that variable."

/** The error of a reference. Its message names it, and never shows a value. */
function unresolved(message: string, details?: Readonly<Record<string, string>>): CallError {
  return new CallError("VALIDATION_ERROR", message, { ...(details && { details }) })
}

function missingVariable(name: string, isEmpty: boolean, names: readonly string[]): CallError {
  const guess = isEmpty ? "" : didYouMean(name, names)
  const what = isEmpty ? "is empty" : "is not set"
  const cure = isEmpty
    ? `Give it a value, or say that it may be empty: \${env:${name}:-}.`
    : `Set it (export ${name}=…), or give a default: \${env:${name}:-…}.`
  return unresolved(`the variable "${name}" ${what}.${guess} ${cure}`, {
    variable: name,
  })
}
