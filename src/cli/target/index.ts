import type { CommandArgs, CommandIO, Target } from "../model.ts"

/** What a command's operations come from: a hub that runs (`--hub`), or sources opened here. */
export async function openTarget(args: CommandArgs, io: CommandIO): Promise<Target> {
  const { hubAddress } = await import("./hub-address.ts")
  const hub = hubAddress(args, io)
  if (hub !== undefined) return (await import("./remote.ts")).openRemote(hub, io)
  const { configFor } = await import("./config.ts")
  const config = await configFor(args, io)
  return (await import("./local.ts")).openLocal(config, io)
}
