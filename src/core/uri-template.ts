// The form of URI templates (RFC 6570), such as `file:///{path}`. What expands them is in `mcp/uri-template.ts`.

/** A variable of a template. */
export interface TemplateVariable {
  readonly name: string
  /** Without a value the URI would have a gap. */
  readonly isRequired: boolean
  /** `*`: several values are expanded separately. */
  readonly isExploded: boolean
}

/** How the values of an expression are written. */
export interface Operator {
  readonly first: string
  readonly separator: string
  /** Whether to write `name=value`, and what follows the name of an empty value. */
  readonly named: false | "=" | ""
  /** Reserved characters stay unencoded. */
  readonly isReserved: boolean
}

/** A variable in one expression. */
export interface Variable extends TemplateVariable {
  readonly prefix: number | undefined
}

/** What stands between braces. */
export interface Expression {
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

/** A template, taken apart. */
export interface TemplateParts {
  /** Texts between expressions as they were written, and expressions. */
  readonly parts: readonly (string | Expression)[]
  /** Each variable once. */
  readonly variables: readonly TemplateVariable[]
}

const SIMPLE: Operator = { first: "", separator: ",", named: false, isReserved: false }
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["+", { ...SIMPLE, isReserved: true }],
  ["#", { ...SIMPLE, first: "#", isReserved: true }],
  [".", { ...SIMPLE, first: ".", separator: "." }],
  ["/", { ...SIMPLE, first: "/", separator: "/" }],
  [";", { ...SIMPLE, first: ";", separator: ";", named: "" }],
  ["?", { ...SIMPLE, first: "?", separator: "&", named: "=" }],
  ["&", { ...SIMPLE, first: "&", separator: "&", named: "=" }],
])

const MAX_LENGTH = 8192
const MAX_VARIABLES = 100
const NAME = /^[A-Za-z0-9_.%-]{1,100}$/

/** Takes a template apart; returns a text that says why when it is invalid. */
export function readUriTemplate(text: string): TemplateParts | string {
  if (text.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`
  const parts: (string | Expression)[] = []
  let at = 0
  while (at < text.length) {
    const start = text.indexOf("{", at)
    const literal = text.slice(at, start === -1 ? undefined : start)
    if (literal.includes("}")) return `it has a "}" without a "{"`
    parts.push(literal)
    if (start === -1) break
    const end = text.indexOf("}", start)
    if (end === -1) return `it has a "{" without a "}"`
    const expression = readExpression(text.slice(start + 1, end))
    if (typeof expression === "string") return expression
    parts.push(expression)
    at = end + 1
  }
  const variables = variablesOf(parts)
  if (variables.length > MAX_VARIABLES) return `it has more than ${MAX_VARIABLES} variables`
  return { parts, variables }
}

function readExpression(text: string): Expression | string {
  const operator = OPERATORS.get(text.charAt(0))
  if (operator === undefined && /^[=,!@|]/.test(text)) {
    return `the operator of "{${text}}" is reserved`
  }
  const variables: Variable[] = []
  for (const item of (operator === undefined ? text : text.slice(1)).split(",")) {
    const isExploded = item.endsWith("*")
    const [name = "", length, ...rest] = (isExploded ? item.slice(0, -1) : item).split(":")
    const prefix = length === undefined ? undefined : Number(length)
    const isPrefix = length === undefined || /^[1-9]\d{0,3}$/.test(length)
    if (!NAME.test(name) || !isPrefix || rest.length > 0 || (isExploded && prefix !== undefined)) {
      return `"{${text}}" is not an expression`
    }
    const isRequired = operator === undefined || (operator.isReserved && operator.first === "")
    variables.push({ name, isRequired, isExploded, prefix })
  }
  return { operator: operator ?? SIMPLE, variables }
}

/** Each variable once; required if one of its occurrences is. */
function variablesOf(parts: readonly (string | Expression)[]): readonly TemplateVariable[] {
  const byName = new Map<string, TemplateVariable>()
  for (const part of parts) {
    if (typeof part === "string") continue
    for (const { name, isRequired, isExploded } of part.variables) {
      const previous = byName.get(name)
      byName.set(name, {
        name,
        isRequired: isRequired || previous?.isRequired === true,
        isExploded: isExploded || previous?.isExploded === true,
      })
    }
  }
  return [...byName.values()]
}
