/** Splits an id at the first dot. `undefined` if one part is empty. */
export function splitId(
  id: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const dot = id.indexOf(".")
  if (dot <= 0 || dot === id.length - 1) return undefined
  return { namespace: id.slice(0, dot), name: id.slice(dot + 1) }
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Random per process, so that ids of different processes do not collide. Made with the first id: loading the
// platform's cryptography takes Node milliseconds.
let prefix = ""
let counter = 0

/** A request id that no other call has: cheaper than a UUID, and as unique. */
export function mintRequestId(): string {
  return requestIdOf(mintNumber())
}

/** A number that no other request of this process has. */
export function mintNumber(): number {
  return ++counter
}

/** The id of the request with this number. */
export function requestIdOf(number: number): string {
  return (prefix ||= randomPrefix()) + number.toString(36)
}

/** The number of a request whose id was minted here; an arbitrary value for other ids. */
export function requestNumber(id: string): number {
  return Number.parseInt(id.slice(17), 36)
}

/** 96 random bits and a dash, in 17 letters. Ids are in every message of a call, so they are short. */
function randomPrefix(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return `${Array.from(bytes, (byte) => LETTERS[byte % 64]).join("")}-`
}
