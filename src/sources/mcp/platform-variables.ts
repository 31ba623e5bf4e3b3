/** The parts of the platform that a config may refer to. */
export interface PlatformVariables {
  readonly env: (name: string) => string | undefined
  readonly userHome: string | undefined
  readonly workspaceFolder: string | undefined
  readonly pathSeparator: string
  readonly readFile: ((path: string) => Promise<string>) | undefined
}

interface NodeModules {
  readonly host: {
    readonly env: Readonly<Record<string, string | undefined>>
    cwd(): string
  }
  readonly os: { homedir(): string }
  readonly path: { readonly sep: string }
  readonly fs: { readFile(path: string, encoding: "utf8"): Promise<string> }
}

/** Reads them from Node; empty on other platforms. The module names are built at run time, for bundlers. */
export async function platformVariables(): Promise<PlatformVariables> {
  const load = async (name: string): Promise<unknown> => {
    const module = (await import(/* @vite-ignore */ `node:${name}`)) as { default: unknown }
    return module.default
  }
  try {
    const host = (await load("process")) as NodeModules["host"]
    const os = (await load("os")) as NodeModules["os"]
    const path = (await load("path")) as NodeModules["path"]
    const fs = (await load("fs/promises")) as NodeModules["fs"]
    return {
      env: (name) => (Object.hasOwn(host.env, name) ? host.env[name] : undefined),
      userHome: os.homedir(),
      workspaceFolder: host.cwd(),
      pathSeparator: path.sep,
      readFile: (name) => fs.readFile(name, "utf8"),
    }
  } catch {
    return {
      env: () => undefined,
      userHome: undefined,
      workspaceFolder: undefined,
      pathSeparator: "/",
      readFile: undefined,
    }
  }
}
