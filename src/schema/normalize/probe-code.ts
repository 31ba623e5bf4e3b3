import { addToList } from "../../internal/lists.ts"
import { ARRAY, OBJECT } from "./flatten.ts"
import type { Node, Plan, Shape, Tags } from "./model.ts"

/** Maximum number of generated functions; beyond it the probe calls the plan. */
const MAX_FUNCTIONS = 500

/** Up to this many keys, single lookups are faster than a loop. */
const MAX_UNROLLED_KEYS = 8

/**
 * Writes the code of a probe: a function per plan, and one per branch of a tagged union.
 *
 * Values that are not JSON (patterns, shapes, defaults) are passed in `refs`. Each piece of code is a list of
 * statements that return, or empty if there is nothing to check.
 */
export class ProbeCode {
  readonly refs: unknown[] = []
  readonly #refNames = new Map<unknown, string>()
  readonly #functions: string[] = []
  readonly #plans = new Map<Plan, string>()
  readonly #defaulted = new Set<string>()
  #names = 0

  /** A name that was not used yet. */
  name(prefix: string): string {
    return `${prefix}${this.#names++}`
  }

  /** The name in generated code of a value in `refs`. */
  ref(value: unknown): string {
    let name = this.#refNames.get(value)
    if (name === undefined) {
      name = `r${this.refs.push(value) - 1}`
      this.#refNames.set(value, name)
    }
    return name
  }

  /** Records a key whose absence is detected by reading it. */
  reads(key: string): void {
    this.#defaulted.add(literal(key))
  }

  /** The function for values of a plan; `undefined` if there is nothing to check. */
  ofPlan(plan: Plan): string | undefined {
    const cached = this.#plans.get(plan)
    if (cached !== undefined) return cached
    const { types } = plan
    if (!plan.hasWork || (types & (ARRAY | OBJECT)) === 0) return undefined
    const name = this.name("p")
    this.#plans.set(plan, name)
    if (this.#plans.size > MAX_FUNCTIONS) {
      return this.#define(name, `return helpers.isUnchanged(${this.ref(plan)},v)`)
    }
    let code = ""
    if ((types & ~(ARRAY | OBJECT)) !== 0) code += `if(typeof v!=="object"||v===null)return true;`
    return this.#define(name, code + this.#containers(plan.node, plan))
  }

  /** The function for an object or array that ends at a node. */
  ofNode(node: Node, plan: Plan): string {
    return this.#define(this.name("n"), this.#containers(node, plan))
  }

  /** The whole code; evaluates to a function that calls `entry`. */
  source(entry: string | undefined): string {
    const refs = this.refs.map((_, index) => `const r${index}=refs[${index}];`)
    const start = `return v=>{${this.#guard()}return ${entry === undefined ? "true" : `${entry}(v)`}}`
    return ['"use strict";const hasOwn=Object.hasOwn;', ...refs, ...this.#functions, start].join(
      "\n",
    )
  }

  /**
   * Returns false if `Object.prototype` has a key with a default, which would look present.
   *
   * Other keys there are harmless: they are counted up and down again, or once too often.
   */
  #guard(): string {
    if (this.#defaulted.size === 0) return ""
    if (this.#defaulted.size > MAX_UNROLLED_KEYS) return "for(const k in empty)return false;"
    const inherited = Array.from(this.#defaulted, (key) => `empty[${key}]!==undefined`)
    return `if(${inherited.join("||")})return false;`
  }

  #define(name: string, body: string): string {
    this.#functions.push(`function ${name}(v){${body}}`)
    return name
  }

  #containers(node: Node, plan: Plan): string {
    const types = plan.types & (ARRAY | OBJECT)
    const array = types === OBJECT ? "" : this.#array(node, plan) || "return true;"
    const object = types === ARRAY ? "" : this.#object(node, plan) || "return true;"
    if (types === ARRAY) return array
    return types === OBJECT ? object : `if(Array.isArray(v)){${array}}${object}`
  }

  #array(node: Node, plan: Plan): string {
    if (node.isBlind) return ""
    if (node.conditional === undefined) {
      return writeArray(this, node.shape, this.#failing(node, plan, "isFixedArray"))
    }
    const { array } = node.conditional.dispatch
    return array === undefined ? this.#asking(node, plan) : this.#array(node.after(array), plan)
  }

  #object(node: Node, plan: Plan): string {
    if (node.isBlind) return ""
    if (node.conditional === undefined) {
      return writeObject(this, node.shape, this.#failing(node, plan, "isFixedObject"))
    }
    const { object } = node.conditional.dispatch
    if (object === undefined) return this.#asking(node, plan)
    if ("tag" in object) return this.#tagged(node, plan, object)
    if (!("key" in object)) return this.#object(node.after(object), plan)
    const present = this.#object(node.after(object.present), plan) || "return true;"
    const absent = this.#object(node.after(object.absent), plan) || "return true;"
    return `if(hasOwn(v,${literal(object.key)})){${present}}${absent}`
  }

  #tagged(node: Node, plan: Plan, { tag, choices }: Tags): string {
    const bodies = new Map<Node, string[]>()
    for (const [constant, choice] of choices) {
      addToList(bodies, node.after(choice), literal(constant))
    }
    const cases = Array.from(bodies, ([next, labels]) => {
      const body = this.#object(next, plan)
      const ask = body === "" ? "true" : `${this.#define(this.name("b"), body)}(v)`
      return `${labels.map((label) => `case ${label}:`).join("")}return ${ask};`
    })
    return `switch(v[${literal(tag)}]){${cases.join("")}}${this.#asking(node, plan)}`
  }

  /** Leaves the decision to the plan, and the rest to another probe. */
  #asking(node: Node, plan: Plan): string {
    return `return helpers.decide(${this.ref(node)},${this.ref(plan)},v);`
  }

  /** The code for a value that needs a change: it may be in a place that is never changed. */
  #failing(node: Node, plan: Plan, test: string): string {
    if (node.isDelicate) return `return helpers.isUnchanged(${this.ref(plan)},v);`
    return `return helpers.${test}(v);`
  }
}

/** A JSON value as source text. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
}

/** Writes the check of the elements of an array. */
function writeArray(code: ProbeCode, shape: Shape, fail: string): string {
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
 * Writes the check of the keys of an object.
 *
 * If unknown keys are stripped, the known ones are counted and the counts compared. Required keys are
 * always present, so that a flat object of required keys needs a single loop.
 */
function writeObject(code: ProbeCode, shape: Shape, fail: string): string {
  const byKey = writeOtherKeys(code, shape, fail)
  const counts = shape.strips && byKey === ""
  let always = 0
  let text = ""
  for (const key of shape.named) {
    const isRequired = shape.required.has(key)
    // An inherited `constructor` does not mean that the key is present.
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

/** Writes the check of undeclared keys one by one; empty if counting them is enough. */
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

/** Statements that check a part; empty if there is nothing to check. */
function descend(code: ProbeCode, plan: Plan | undefined, part: string, fail: string): string {
  const name = plan === undefined ? undefined : code.ofPlan(plan)
  return name === undefined ? "" : `if(${part}!==undefined&&!${name}(${part})){${fail}}`
}
