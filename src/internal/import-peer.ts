/** The error for a missing optional package; the message names it and how to install it. */
export class MissingPackage extends Error {
  override readonly name = "MissingPackage"
  /** The name of the package. */
  readonly package: string

  constructor(user: string, name: string, cause: unknown) {
    super(`${user} needs the optional package "${name}". Install it: npm install ${name}`, {
      cause,
    })
    this.package = name
  }
}

/**
 * Reports a missing package as soon as that is known. Other failures are reported when the package is used.
 */
export function reportMissing(loading: Promise<unknown>, report: (message: string) => void): void {
  loading.catch((error: unknown) => {
    if (error instanceof MissingPackage) report(error.message)
  })
}

/**
 * Loads an optional package on first use.
 *
 * Rejects with an install command if the package is missing. An error of the package itself is passed on:
 * installing it again would not help.
 */
export async function importPeer<TModule>(
  user: string,
  name: string,
  load: () => Promise<TModule>,
): Promise<TModule> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new MissingPackage(user, name, error)
  }
}

/**
 * Rejects with an install command if an optional package is missing.
 *
 * The package is loaded only where the platform cannot find it: it may be bundled with the application.
 */
export async function checkPeer(
  user: string,
  name: string,
  load: () => Promise<unknown>,
): Promise<void> {
  const { resolve } = import.meta as { readonly resolve?: (name: string) => string }
  try {
    if (resolve?.(name) !== undefined) return
  } catch {
    // Loading it gives a better error.
  }
  await importPeer(user, name, load)
}

function isMissing(error: unknown, name: string): boolean {
  if (typeof error !== "object" || error === null) return false
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  // Runtimes and bundlers use different codes. If a dependency of the package is missing, the error names
  // that one.
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return false
  return String(message).includes(`'${name}'`) || String(message).includes(`"${name}"`)
}
