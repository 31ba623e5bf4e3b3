import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { findChromium, provideChromium } from "./chromium.ts"
import { launchBrowser } from "./browser.ts"

const run = promisify(execFile)

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-path-"))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

async function program(name: string, text = "#!/bin/sh\nexit 0\n"): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  await chmod(path, 0o755)
  return path
}

describe("findChromium", () => {
  test("finds the usual names on PATH, the first of them first", async () => {
    expect(findChromium({ PATH: folder })).toBeUndefined()
    const chrome = await program("google-chrome")
    expect(findChromium({ PATH: `relative:${folder}` })).toBe(chrome)
    const chromium = await program("chromium")
    expect(findChromium({ PATH: folder })).toBe(chromium)
  })

  test("takes CHROMIUM_PATH before PATH, and does not look further when it is wrong", async () => {
    await program("chromium")
    const other = await program("other")
    expect(findChromium({ PATH: folder, CHROMIUM_PATH: other })).toBe(other)
    expect(findChromium({ PATH: folder, CHROMIUM_PATH: join(folder, "none") })).toBeUndefined()
  })

  test("passes over what cannot be run", async () => {
    await chmod(await program("chromium"), 0o644)
    expect(findChromium({ PATH: folder })).toBeUndefined()
  })
})

describe("provideChromium", () => {
  test("says on one line why there is no browser", async () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true)

    const { reason } = await provideChromium({ PATH: folder })

    expect(reason).toMatch(/^No Chromium: .*apt-get install chromium$/)
    expect(write.mock.calls).toEqual([[`SKIPPED browser tests. ${reason}\n`]])
  })

  test("installs nothing unless it runs as root", async () => {
    await program("apt-get", `#!/bin/sh\ntouch ${folder}/asked\n`)
    await expect(provideChromium({ PATH: folder, CI: "true" }, false)).rejects.toThrow(
      "only root can",
    )
    expect(existsSync(join(folder, "asked"))).toBe(false)
  })

  test("fails where CI is set", async () => {
    await expect(provideChromium({ PATH: folder, CI: "true" })).rejects.toThrow("No Chromium: ")
  })

  test("names a CHROMIUM_PATH that is no program, and installs nothing then", async () => {
    await program("apt-get", `#!/bin/sh\ntouch ${folder}/asked\n`)
    const env = { PATH: `${folder}:/usr/bin:/bin`, CHROMIUM_PATH: "/none", CI: "true" }
    await expect(provideChromium(env)).rejects.toThrow('CHROMIUM_PATH "/none" is no program')
    expect(existsSync(join(folder, "asked"))).toBe(false)
  })

  test("installs the package, once for several", async () => {
    const flock = (await run("sh", ["-c", "command -v flock"])).stdout.trim()
    await program("flock", `#!/bin/sh\nexec ${flock} "$@"\n`)
    await program("sh", `#!/bin/sh\nexec /bin/sh "$@"\n`)
    await program(
      "apt-get",
      `#!/bin/sh\necho "$1" >> ${folder}/log\n` +
        // The lists are out of date at first.
        `if [ "$1" = update ]; then echo > ${folder}/lists; exit; fi\n` +
        `[ -e ${folder}/lists ] || exit 100\n` +
        `echo '#!/bin/sh' > ${folder}/chromium; /bin/chmod +x ${folder}/chromium\n`,
    )

    const found = await Promise.all([1, 2, 3].map(() => provideChromium({ PATH: folder }, true)))

    expect(found).toEqual(Array(3).fill({ path: join(folder, "chromium") }))
    const { stdout } = await run("cat", [join(folder, "log")])
    expect(stdout.split("\n")).toEqual(["install", "update", "install", ""])
  })

  test.runIf(process.getuid?.() === 0)(
    "tells what the installation said when it fails",
    async () => {
      await program("flock", '#!/bin/sh\nshift\nexec "$@"\n')
      await program("sh", `#!/bin/sh\nexec /bin/sh "$@"\n`)
      await program("apt-get", "#!/bin/sh\necho 'E: Unable to locate package' >&2\nexit 100\n")
      await expect(provideChromium({ PATH: folder, CI: "1" }, true)).rejects.toThrow(
        "apt-get could not install it (E: Unable to locate package)",
      )
    },
  )
})

describe("launchBrowser", () => {
  test("says what a browser that does not start wrote, and leaves no profile behind", async () => {
    const path = await program(
      "chromium",
      `#!/bin/sh\nfor a in "$@"; do echo "$a" >> ${folder}/arguments; done\necho no display >&2\nexit 1\n`,
    )
    await expect(launchBrowser(path)).rejects.toThrow(/The browser ended\. no display/)
    const { stdout } = await run("grep", ["user-data-dir", join(folder, "arguments")])
    expect(existsSync(stdout.trim().split("=")[1] as string)).toBe(false)
  })

  test("says so when there is nothing to start", async () => {
    await expect(launchBrowser(join(folder, "none"))).rejects.toThrow("ENOENT")
  })
})
