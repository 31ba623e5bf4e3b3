import { shellWord } from "../internal/shell.ts"
import type { CommandArgs, CommandIO } from "./model.ts"
import { escapeForTerminal } from "./output.ts"
import { SOURCE_NAMES } from "./shared-options.ts"
import { unbroken } from "./wrap.ts"

const NAMES = ["config", "hub", ...SOURCE_NAMES, "source"]

/** A command line for the same sources as another one, without possible secrets. */
export function commandText(command: string, io: CommandIO, args: CommandArgs | undefined): string {
  const sources = NAMES.flatMap((name) =>
    (args?.texts(name) ?? []).flatMap((value) => [
      `--${name}`,
      shellWord(escapeForTerminal(value)),
    ]),
  )
  return unbroken([io.program, command, ...sources].join(" "))
}
