import { Environment } from "typebox/system"
import { literal } from "./normalize/probe-code.ts"

/** Copies an object or array, and the parts of it that are read. */
export interface Copier {
  readonly copy: (value: object) => unknown
}

/** The parts of an object or array that are copied. */
export interface CopyParts {
  /** Properties of objects that are copied, too. */
  readonly fields: readonly { readonly key: string; readonly place: Copier }[]
  /** Items of arrays that are copied, too. */
  readonly items: Copier | undefined
  /** Copies the other parts of a copied object that are read. */
  readonly finish: ((copy: Record<string, unknown>) => void) | undefined
  /** Copies values that are neither arrays nor plain objects of this realm. */
  readonly other: (value: object) => unknown
}

/** Maximum number of properties in one generated function. */
const MAX_FIELDS = 200

/** Number of runs after which V8 collects the feedback of a function, with a reserve. */
const WARM_UP_RUNS = 100

/** Whether `__proto__` reads a prototype, which costs engines less than the function that does so. */
const readsPrototype = ((): boolean => {
  try {
    return (Object.create(Array.prototype) as { __proto__?: unknown }).__proto__ === Array.prototype
  } catch {
    return false
  }
})()

const PROTOTYPE = readsPrototype ? "v.__proto__" : "prototypeOf(v)"
const IS_OBJECT = `typeof c==="object"&&c!==null`

/**
 * Generates the code of a copy; `undefined` where code cannot be generated (a strict CSP).
 *
 * Each place has code of its own: engines copy objects of the few shapes that they have seen there many times faster.
 */
export function generateCopy(parts: CopyParts): ((value: object) => unknown) | undefined {
  const { fields, items, finish, other } = parts
  if (!Environment.CanEvaluate() || fields.length > MAX_FIELDS) return undefined
  const names = fields.map((_, index) => `const f${index}=fields[${index}].place;`)
  const item = items === undefined ? "v[i]" : `c=v[i],${IS_OBJECT}?items.copy(c):c`
  const steps = fields.map(({ key }, index) => {
    const place = `o[${literal(key)}]`
    return `c=${place};if(${IS_OBJECT})${place}=f${index}.copy(c);`
  })
  const code = [
    `"use strict";const proto=Object.prototype,prototypeOf=Object.getPrototypeOf,isArray=Array.isArray;`,
    ...names,
    "return v=>{let c;",
    "if(isArray(v)){const n=v.length,o=n<10000?new Array(n):[];",
    `for(let i=0;i<n;i++)o[i]=(${item});return o}`,
    `if(${PROTOTYPE}!==proto)return other(v);`,
    `const o={...v};${steps.join("")}${finish === undefined ? "" : "finish(o);"}return o}`,
  ]
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- names enter as JSON literals only
  const make = new Function("fields", "items", "finish", "other", code.join("\n")) as (
    ...args: unknown[]
  ) => (value: object) => unknown
  const copy = make(fields, items, finish, other)
  // V8 gives the first few copies of a function another hidden class than the later ones, which makes each check of
  // copies up to twice as slow for good. Its first runs are therefore spent here.
  for (let runs = 0; runs < WARM_UP_RUNS; runs++) copy([])
  return copy
}
