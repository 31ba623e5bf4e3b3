const NONE: readonly string[] = []

/** The variables of a path that no parameter declares. */
export function undeclaredNames(path: string, declared: readonly string[]): readonly string[] {
  const names = templateNames(path)
  let missing: string[] | undefined
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (!declared.includes(name)) (missing ??= []).push(name)
  }
  return missing ?? NONE
}

// A cache for the operations of one path, which are read in sequence.
let last: { readonly path: string; readonly names: readonly string[] } = { path: "", names: NONE }

/** The variables of a path template. */
function templateNames(path: string): readonly string[] {
  if (last.path !== path) last = { path, names: path.includes("{") ? variablesIn(path) : NONE }
  return last.names
}

function variablesIn(path: string): string[] {
  const names: string[] = []
  for (let open = path.indexOf("{"); open >= 0;) {
    const close = path.indexOf("}", open)
    if (close < 0) break
    const inner = path.lastIndexOf("{", close)
    const name = path.slice(inner + 1, close)
    if (name !== "" && !names.includes(name)) names.push(name)
    open = path.indexOf("{", close)
  }
  return names
}
