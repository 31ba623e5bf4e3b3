import type { LazyOperation } from "../../core/lazy-operation.ts"
import { ReturnsTarget } from "../../schema/returns-target.ts"
import type { OpenAPIDocument } from "./document.ts"
import type { ImportResult } from "./import.ts"
import { reportOf } from "./report.ts"
import type { ImportReport } from "./report.ts"

class Reported extends ReturnsTarget {
  readonly #make: () => ImportReport
  #report: ImportReport | undefined = undefined

  constructor(operations: object, make: () => ImportReport) {
    super(operations)
    this.#make = make
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
): LazyOperation[] & { readonly report: ImportReport } {
  void new Reported(operations, () => reportOf(document, result, warnings))
  return Object.defineProperty(operations, "report", REPORT) as LazyOperation[] & {
    readonly report: ImportReport
  }
}
