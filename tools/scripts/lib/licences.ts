import { readdir, readFile } from "node:fs/promises"
import { join, resolve } from "node:path"

/** The licences of the packages that files come from; `root` is where relative ones start. */
export async function licences(root: string, files: Iterable<string>): Promise<string> {
  const folders = new Map<string, string>()
  for (const file of files) {
    const [folder, name] = /^.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(file) ?? []
    if (folder !== undefined && name !== undefined) folders.set(resolve(root, folder), name)
  }
  const texts = await Promise.all(
    Array.from(folders, async ([folder, name]) => `${name}\n\n${await licenceOf(folder, name)}`),
  )
  return [...new Set(texts)].toSorted().join("\n\n")
}

async function licenceOf(folder: string, name: string): Promise<string> {
  const found = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file))
  if (found !== undefined) return await readFile(join(folder, found), "utf8")
  const { license, author } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly license?: unknown
    readonly author?: unknown
  }
  // Some packages have no license file; the field in their package.json is used instead.
  if (license === "MIT" && typeof author === "string") return MIT.replace("AUTHOR", () => author)
  throw new Error(`The package "${name}" is bundled and has no licence file.`)
}

const MIT = `MIT License

Copyright (c) AUTHOR

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and
to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of
the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO
THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
IN THE SOFTWARE.
`
