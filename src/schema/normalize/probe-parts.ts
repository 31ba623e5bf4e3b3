import type { ProbeCode } from "./probe-code.ts"
import type { Plan } from "./plan.ts"
import type { Shape } from "./shape.ts"

/** A JSON value as source text. */
export function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
}

/** Looks at the elements of an array. */
export function writeArray(code: ProbeCode, shape: Shape, fail: string): string {
  let text = ""
  for (const [index, plan] of shape.prefix.entries()) {
    const element = descend(code, plan, `v[${index}]`, fail)
    if (element !== "") text += `if(v.length>${index}){${element}}`
  }
  const item = descend(code, shape.items, "v[i]", fail)
  if (item !== "") text += `for(let i=${shape.prefix.length};i<v.length;i++){${item}}`
  return text === "" ? "" : `${text}return true;`
}

/**
 * Looks at the keys of an object.
 *
 * Where unknown keys have to go, the known ones are counted and the count compared: required keys are
 * there for certain, so a flat object of required keys comes to a single loop.
 */
export function writeObject(code: ProbeCode, shape: Shape, fail: string): string {
  const byKey = writeOtherKeys(code, shape, fail)
  const counts = shape.strips && byKey === ""
  let always = 0
  let text = ""
  for (const key of shape.named) {
    const isRequired = shape.required.has(key)
    // An inherited `constructor` is no sign of a key of that name.
    const isInherited = key in Object.prototype
    if (counts && isRequired && !isInherited) always++
    text += writeKey(code, shape, key, fail, {
      isInherited,
      count: counts && (isInherited || !isRequired) ? "n++;" : "",
    })
  }
  if (counts) {
    const exact = `if(n!==0&&!helpers.hasNoExcess(${code.ref(shape)},v)){${fail}}`
    text = `let n=${always};${text}for(const k in v)n--;${exact}`
  }
  text += byKey
  return text === "" ? "" : `${text}return true;`
}

function writeKey(
  code: ProbeCode,
  shape: Shape,
  key: string,
  fail: string,
  { isInherited, count }: { readonly isInherited: boolean; readonly count: string },
): string {
  const slot = shape.defaults.get(key)
  const local = code.name("c")
  const below = descend(code, shape.fields.get(key), local, fail)
  const missing = slot === undefined ? "" : `else if(${code.ref(slot)}.isUsable){${fail}}`
  if (count === "" && below === "" && missing === "") return ""
  if (slot !== undefined && !isInherited) code.reads(key)
  const read = `v[${literal(key)}]`
  const value = isInherited ? `hasOwn(v,${literal(key)})?${read}:undefined` : read
  if (below === "" && missing === "") return `if((${value})!==undefined)${count}`
  return `const ${local}=${value};if(${local}!==undefined){${count}${below}}${missing}`
}

/** Looks at keys without a name one by one; nothing to write where counting them is enough. */
function writeOtherKeys(code: ProbeCode, shape: Shape, fail: string): string {
  const rules = shape.rest.filter((rule) => rule.entry.schema !== false || rule.pattern)
  const needed = rules.filter(({ plan, pattern }) => plan.hasWork || (shape.strips && pattern))
  const [rule] = needed
  if (rule === undefined) return ""
  const fields = code.ref(shape.fields)
  const start = `for(const k in v){if(${fields}.has(k))continue;`
  if (rules.length > 1) {
    return `${start}if(!helpers.isExtraClean(${code.ref(shape)},k,v)){${fail}}}`
  }
  const below = descend(code, rule.plan, "v[k]", fail)
  if (rule.pattern === undefined) return `${start}${below}}`
  const excess = shape.strips ? `else if(!${code.ref(shape.named)}.has(k)){${fail}}` : ""
  return `${start}if(${code.ref(rule.pattern)}.test(k)){${below}}${excess}}`
}

/** Statements that look into a part; empty when there is nothing to find. */
function descend(code: ProbeCode, plan: Plan | undefined, part: string, fail: string): string {
  const name = plan === undefined ? undefined : code.ofPlan(plan)
  return name === undefined ? "" : `if(${part}!==undefined&&!${name}(${part})){${fail}}`
}
