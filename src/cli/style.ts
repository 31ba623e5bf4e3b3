import type { CommandIO, TextSink } from "./model.ts"

/** Text styles; without a terminal they leave the text unchanged. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

/** The styles of a sink (default: standard output): coloured on a terminal without `NO_COLOR`. */
export function styled({ env, stdout }: CommandIO, sink: TextSink = stdout): Style {
  return hasColour(sink, env) ? COLOURED : PLAIN
}

function hasColour(sink: TextSink, env: CommandIO["env"]): boolean {
  return sink.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
}

const same = (text: string): string => text
const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

const COLOURED: Style = {
  bold: between(1, 22),
  dim: between(2, 22),
  red: between(31, 39),
  green: between(32, 39),
  yellow: between(33, 39),
  cyan: between(36, 39),
}

function between(on: number, off: number): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`)
}
