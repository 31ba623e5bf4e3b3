import { isSecretName } from "../../../internal/secret-names.ts"
import type { MCPChannel } from "../config.ts"

const FLAG = /^--?([\w.-]+)$/
const ASSIGNMENT = /^(?:--?)?([\w.-]+)\s*[=:]\s*(.+)$/s
// Looks generated: some services put a key into the path.
const GENERATED = /^(?=.*\d)(?=.*[a-z])[\w.~-]{20,}$/i

/** The secrets of a configuration, to be masked in messages and logs. */
export function secretsOfChannel(channel: MCPChannel): readonly string[] {
  switch (channel.kind) {
    case "stdio":
      return [...Object.values(channel.env), ...argumentSecrets(channel.args)]
    case "http":
      return urlSecrets(channel.url)
    case "own":
      return []
  }
}

function urlSecrets({ search, searchParams, pathname }: URL): string[] {
  const segments = pathname.split("/").filter((segment) => GENERATED.test(segment))
  const raw =
    search === ""
      ? []
      : search
          .slice(1)
          .split("&")
          .map((pair) => pair.replace(/^[^=]*=/, ""))
  return [...searchParams.values(), ...raw, ...segments]
}

/** Values of arguments whose names say that they are secret: `--api-key x`, `--token=x`, `Authorization: x`. */
function argumentSecrets(args: readonly string[]): string[] {
  return args.flatMap((argument, at) => {
    const [, name, value] = ASSIGNMENT.exec(argument) ?? []
    if (name !== undefined && value !== undefined) {
      return isSecretName(name, "setting") ? [value, value.replace(/^\w+ +/, "")] : []
    }
    const flag = FLAG.exec(args[at - 1] ?? "")?.[1]
    return flag !== undefined && isSecretName(flag, "setting") ? [argument] : []
  })
}
