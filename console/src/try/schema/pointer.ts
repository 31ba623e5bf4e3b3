import { childPointer, pointerTokens } from "../../../../src/schema/json.ts"
import { decodeFragment } from "../../../../src/schema/read/resolve-ref.ts"
import type { Path } from "./json.ts"

/** A path as a JSON pointer. */
export function toPointer(path: Path): string {
  return path.reduce<string>(childPointer, "")
}

/** The parts of a JSON pointer, or of one behind `#`; every part is a string. */
export function fromPointer(pointer: string): readonly string[] {
  const text = pointer.startsWith("#") ? decodeFragment(pointer.slice(1)) : pointer
  return pointerTokens(text === "" || text.startsWith("/") ? text : `/${text}`) ?? []
}
