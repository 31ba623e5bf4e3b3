import type { LazyOperation } from "../../core/lazy-operation.ts"
import { ReturnsTarget } from "../../schema/returns-target.ts"
import type { OpenAPIDocument } from "./document.ts"
import type { ImportConfig, ImportResult } from "./import.ts"
import { missingCredentials } from "./missing-credentials.ts"
import type { MissingCredential } from "./missing-credentials.ts"
import { reportOf } from "./report.ts"
import type { ImportReport } from "./report.ts"

class Reported extends ReturnsTarget {
  readonly #make: () => ImportReport
  readonly #missing: () => readonly MissingCredential[]
  #report: ImportReport | undefined = undefined

  constructor(
    operations: object,
    make: () => ImportReport,
    missing: () => readonly MissingCredential[],
  ) {
    super(operations)
    this.#make = make
    this.#missing = missing
  }

  static missingOf(value: object): readonly MissingCredential[] {
    return #missing in value ? value.#missing() : []
  }

  static reportOf(value: object): ImportReport | undefined {
    return #make in value ? (value.#report ??= value.#make()) : undefined
  }
}

// One function for all imports: separate getters would keep hidden classes alive.
const REPORT: PropertyDescriptor = {
  get(this: object) {
    return Reported.reportOf(this)
  },
}

/** Adds the report of an import, which is created on first use, to its operations. */
export function withReport(
  operations: LazyOperation[],
  document: OpenAPIDocument,
  result: ImportResult,
  warnings: readonly string[],
  config: ImportConfig,
): LazyOperation[] & { readonly report: ImportReport } {
  void new Reported(
    operations,
    () => reportOf(document, result, warnings),
    () => missingCredentials(result, config),
  )
  return Object.defineProperty(operations, "report", REPORT) as LazyOperation[] & {
    readonly report: ImportReport
  }
}

/** The credentials that the document of an import asks for and its configuration does not have. */
export function missingCredentialsOf(operations: object): readonly MissingCredential[] {
  return Reported.missingOf(operations)
}
