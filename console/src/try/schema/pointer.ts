import { childPointer, pointerTokens } from "../../../../src/schema/json.ts"
import { percentDecoded } from "../../../../src/internal/percent.ts"
import type { Path } from "./json.ts"

/** A path as a JSON pointer. */
export function toPointer(path: Path): string {
  return path.reduce<string>(childPointer, "")
}

/** The parts of a JSON pointer, or of one behind `#`; every part is a string. */
export function fromPointer(pointer: string): readonly string[] {
  const text = pointer.startsWith("#") ? percentDecoded(pointer.slice(1)) : pointer
  return pointerTokens(text === "" || text.startsWith("/") ? text : `/${text}`) ?? []
}
