import { CallError } from "../../core/errors.ts"

/** Parses JSON with comments and trailing commas, as used in config files. */
export function parseJsonc(text: string): unknown {
  const plain = withoutComments(text.startsWith("\uFEFF") ? text.slice(1) : text)
  try {
    return JSON.parse(plain)
  } catch (thrown) {
    // The platform's message may quote secrets in the text: report only the line.
    const position = /position (\d+)/.exec(String(thrown))?.[1]
    const line = position === undefined ? undefined : lineOf(plain, Number(position))
    const place = line === undefined ? "" : ` at line ${line}`
    throw new CallError(
      "VALIDATION_ERROR",
      `The MCP configuration is not JSON${place}. Pass the text of a config file, or its parsed object${looksLikePath(text) ? "; this looks like a file name" : ""}.`,
    )
  }
}

/** Replaces comments and trailing commas by blanks, so that line numbers stay correct. */
function withoutComments(text: string): string {
  const out = [...splitUnits(text)]
  let comma = -1
  for (let at = 0; at < out.length; at++) {
    const character = out[at] ?? ""
    if (character === '"') {
      at = endOfString(out, at)
      comma = -1
    } else if (character === "/" && (out[at + 1] === "/" || out[at + 1] === "*")) {
      at = blankComment(out, at)
    } else if (character === ",") {
      comma = at
    } else if (character === "}" || character === "]") {
      if (comma !== -1) out[comma] = " "
      comma = -1
    } else if (!/\s/.test(character)) {
      comma = -1
    }
  }
  return out.join("")
}

function* splitUnits(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) yield text.charAt(at)
}

/** The index of the quotation mark that ends a string, or the end of the text. */
function endOfString(units: readonly string[], start: number): number {
  for (let at = start + 1; at < units.length; at++) {
    if (units[at] === "\\") at++
    else if (units[at] === '"') return at
  }
  return units.length
}

/** Blanks a comment except its line breaks; returns the index of its last character. */
function blankComment(units: string[], start: number): number {
  const isLine = units[start + 1] === "/"
  const last = isLine ? endOfLine(units, start) : endOfBlock(units, start + 2)
  for (let at = start; at <= last && at < units.length; at++) {
    if (units[at] !== "\n") units[at] = " "
  }
  return last
}

function endOfLine(units: readonly string[], start: number): number {
  const end = units.indexOf("\n", start)
  return end === -1 ? units.length : end
}

function endOfBlock(units: readonly string[], start: number): number {
  for (let at = start; at < units.length; at++) {
    if (units[at] === "*" && units[at + 1] === "/") return at + 1
  }
  return units.length
}

function lineOf(text: string, position: number): number {
  return text.slice(0, position).split("\n").length
}

function looksLikePath(text: string): boolean {
  return text.length < 1000 && !text.includes("{") && !text.includes("\n")
}
