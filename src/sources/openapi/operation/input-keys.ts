import type { OpenAPIDocument } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import type { RawOperation } from "./list.ts"
import { ORDER } from "./parameter.ts"
import type { Parameter } from "./parameter.ts"

/** Makes the input keys of parameters unique, if some share a name or one is called "body". */
export function withKeys(
  document: OpenAPIDocument,
  parameters: readonly Parameter[],
  hasBody: boolean,
  operation: RawOperation,
  notes: Note[],
): readonly Parameter[] {
  const taken = new Set<string>(hasBody ? ["body"] : [])
  const before = taken.size
  for (const { name } of parameters) taken.add(name)
  if (taken.size === before + parameters.length) return parameters
  // Plain names first, independent of the order in the document.
  const byPlace = parameters.toSorted((a, b) => ORDER.indexOf(a.in) - ORDER.indexOf(b.in))
  const plain = new Set<string>(hasBody ? ["body"] : [])
  const keys = new Map<Parameter, string>()
  for (const parameter of byPlace) {
    const { name } = parameter
    if (!plain.has(name)) {
      plain.add(name)
      continue
    }
    const wanted = `${parameter.in}_${name}`
    let key = wanted
    for (let count = 2; taken.has(key); count++) key = `${wanted}_${count}`
    taken.add(key)
    keys.set(parameter, key)
    const message = `Another input is called "${name}" as well; the ${parameter.in} parameter is passed as "${key}".`
    notes.push(noteAt(document, operation, message, true))
  }
  return parameters.map((parameter) => {
    const key = keys.get(parameter)
    return key === undefined ? parameter : { ...parameter, key }
  })
}
