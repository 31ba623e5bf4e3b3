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
 * What to throw when the import of an optional package failed: an install command if the package is missing. An error of
 * the package itself is passed on: installing it again would not help.
 *
 * Bundlers leave an import of a missing package alone only in a `try` block, so that each package has its own function
 * with one.
 */
export function importError(user: string, name: string, error: unknown): unknown {
  return isMissing(error, name) ? new MissingPackage(user, name, error) : error
}

/**
 * Rejects with an install command if an optional package is missing.
 *
 * The package is loaded only where the platform cannot find it: it may be bundled with the application.
 */
export async function checkPeer(name: string, load: () => Promise<unknown>): Promise<void> {
  const { resolve } = import.meta as { readonly resolve?: (name: string) => string }
  try {
    if (resolve?.(name) !== undefined) return
  } catch {
    // Loading it gives a better error.
  }
  await load()
}

function isMissing(error: unknown, name: string): boolean {
  if (typeof error !== "object" || error === null) return false
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const text = String(message)
  // Node and most bundlers have a code. Vite ("Could not resolve") and browsers have none.
  if (!/_NOT_FOUND$/.test(String(code)) && !/resolve|bare/.test(text)) return false
  // All name what is missing first. It may be a dependency of the package.
  return text.split(/["'“”]/u, 2)[1] === name
}
