import { reportMissing } from "../../../internal/import-peer.ts"
import type { Logger } from "../../../internal/logger.ts"
import { loadJose } from "./jwt.ts"
import type { AuthOptions } from "./options.ts"

/** Loads the optional packages that authentication needs; a missing one is logged once. */
export class AuthPackages {
  /** Rejects with a `MissingPackage`; `undefined` when no package is needed. */
  readonly loaded: Promise<unknown> | undefined
  isMissing = false

  constructor(auth: AuthOptions | undefined, logger: Logger) {
    if (auth?.jwt === undefined) return
    this.loaded = loadJose()
    reportMissing(this.loaded, (message) => {
      this.isMissing = true
      logger.error(message)
    })
  }
}
