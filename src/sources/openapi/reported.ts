import type { LazyOperation } from "../../core/lazy-operation.ts"
import { ReturnsTarget } from "../../schema/given.ts"
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

// One function for all imports: a getter of its own would tie each to a hidden class that outlives it.
const REPORT: PropertyDescriptor = {
  get(this: object) {
    return Reported.reportOf(this)
  },
}

/** Operations with the report of their import, which is made when it is first read. */
export function reported(
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
