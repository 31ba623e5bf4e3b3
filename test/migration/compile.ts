import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import ts from "typescript-6.0"

/** What the compiler says about a module: the name that it is about, and its message. */
export interface Complaint {
  readonly name: string
  readonly message: string
}

const root = resolve(import.meta.dirname, "../..")
const ENTRIES = {
  "@alkdev/operations": "src/index.ts",
  "@alkdev/operations/from-mcp": "src/from-mcp.ts",
  "@alkdev/operations/type": "src/type.ts",
}
/** Shapes that users write and the package reads; all others go the other way. */
const WRITTEN_BY_USERS = new Set(["HTTPServiceConfig", "MCPClientConfig", "OpenAPIFS", "ScannerFS"])
/** Variables that snippets use without a declaration, because the text around them explains what they are. */
const EXPLAINED = {
  Type: `import { Type } from "typebox"`,
  Value: `import { Value } from "@alkdev/typebox/value"`,
  client: `declare const client: import("@alkdev/operations/from-mcp").MCPClient`,
  data: `declare const data: unknown`,
  envelope: `declare const envelope: import("@alkdev/operations").ResponseEnvelope`,
  fetchOptions: `declare const fetchOptions: RequestInit`,
  maybeEnvelope: `declare const maybeEnvelope: unknown`,
  myHandler: `declare const myHandler: import("@alkdev/operations").OperationHandler`,
  name: `declare const name: string`,
  registry: `declare const registry: import("@alkdev/operations").OperationRegistry`,
  result: `declare const result: import("@modelcontextprotocol/client").CallToolResult`,
  scannedSpec: `declare const scannedSpec: import("@alkdev/operations").OperationSpec`,
  spec: `declare const spec: import("@alkdev/operations").OperationSpec`,
  tool: `declare const tool: import("@alkdev/operations/from-mcp").MCPToolDefinition`,
  url: `declare const url: string`,
  value: `declare const value: unknown`,
}

/**
 * Compiles snippets as modules that use this package, and gives the complaints about each.
 *
 * Names without an import are taken from the package. A snippet that declares a name which the package
 * exports has to fit that export: what users read of it, or write for it, stays valid.
 */
export function compileSnippets(snippets: readonly string[]): Complaint[][] {
  const files = new Map(
    snippets.map((code, index) => [
      resolve(root, `test/migration/snippet-${index}.ts`),
      moduleOf(code),
    ]),
  )
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: [
      "lib.es2023.d.ts",
      "lib.dom.d.ts",
      "lib.dom.iterable.d.ts",
      "lib.dom.asynciterable.d.ts",
      "lib.esnext.disposable.d.ts",
    ],
    types: ["node"],
    typeRoots: [resolve(root, "node_modules/@types")],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, file]) => [entry, [resolve(root, file)]]),
    ),
  }
  const host = ts.createCompilerHost(options)
  const disk = { ...host }
  host.fileExists = (path) => files.has(path) || disk.fileExists(path)
  host.readFile = (path) => files.get(path) ?? disk.readFile(path)
  host.getSourceFile = (path, languageVersion) => {
    const text = files.get(path)
    return text === undefined
      ? disk.getSourceFile(path, languageVersion)
      : ts.createSourceFile(path, text, languageVersion, true)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files.keys()].map((path) => {
    const source = program.getSourceFile(path)!
    const found = [program.getSyntacticDiagnostics(source), program.getSemanticDiagnostics(source)]
    return found.flat().map(({ messageText, start = 0, length = 0 }) => ({
      name: subjectOf(source, start, length),
      message: ts.flattenDiagnosticMessageText(messageText, " "),
    }))
  })
}

const exported = new Map<Entry, Set<string>>()

/** Names of everything that an entry exports. */
function exportsOf(entry: Entry): Set<string> {
  const names = exported.get(entry) ?? readExports(entry)
  exported.set(entry, names)
  return names
}

function readExports(entry: Entry): Set<string> {
  const source = parse(readFileSync(resolve(root, ENTRIES[entry]), "utf8"))
  const names = source.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return [statement.name?.text ?? ""]
    if (!ts.isExportDeclaration(statement)) return []
    const { exportClause } = statement
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) return []
    return exportClause.elements.map(({ name }) => name.text)
  })
  return new Set(names)
}

type Entry = keyof typeof ENTRIES

function moduleOf(code: string): string {
  const body = asModule(code)
  const source = parse(body)
  const declared = declarationsIn(source)
  const used = namesIn(source).filter((name) => !declared.has(name))
  const explained = used.flatMap((name) => EXPLAINED[name as keyof typeof EXPLAINED] ?? [])
  const entries = Object.keys(ENTRIES) as Entry[]
  const imports = entries.flatMap((entry) => {
    const own = exportsOf(entry)
    const names = used.filter((name) => own.has(name) && !(name in EXPLAINED))
    for (const name of names) used.splice(used.indexOf(name), 1)
    return `import { ${names.join(", ")} } from "${entry}"`
  })
  const checks = [...declared].flatMap(([name, kind]) => {
    const entry = entries.find((one) => exportsOf(one).has(name))
    return entry === undefined || kind === "import" ? [] : fitOf(name, kind, entry)
  })
  return [body, ...imports, ...explained, ...checks, "export {}"].join("\n")
}

/** Fragments of objects are wrapped in one, and signatures become declarations. */
function asModule(code: string): string {
  const [, key] = /^(?:\s*\/\/.*\n)*\s*"?([\w.]+)"?: /.exec(code) ?? []
  const definition = `Pick<import("@alkdev/operations").IOperationDefinition, "handler">`
  if (key !== undefined)
    return `({${code}\n})${key === "handler" ? ` satisfies ${definition}` : ""}`
  const isSignature = parse(code).statements.some(
    (statement) =>
      ts.isClassDeclaration(statement) ||
      (ts.isFunctionDeclaration(statement) && statement.body === undefined),
  )
  return isSignature ? `declare ${code.replaceAll(/^async /gm, "")}` : code
}

type Kind = "type" | "value" | "import"

function fitOf(name: string, kind: Kind, entry: Entry): string {
  const now = `import("${entry}").${name}`
  if (kind === "value") return `export const fits${name}: typeof ${name} = null! as typeof ${now}`
  return WRITTEN_BY_USERS.has(name)
    ? `export const fits${name}: ${now} = null! as ${name}`
    : `export const fits${name}: ${name} = null! as ${now}`
}

/** The name at a place: for an argument that of the function, for `fitsOpenAPIFS` the `OpenAPIFS` of the check. */
function subjectOf(source: ts.SourceFile, start: number, length: number): string {
  let name = source.text.slice(start, start + length)
  const visit = (node: ts.Node): void => {
    if (node.getStart(source) > start || node.end < start + length) return
    if (ts.isCallExpression(node) && node.arguments.some((one) => one.getStart(source) === start)) {
      const { expression } = node
      name = ts.isPropertyAccessExpression(expression)
        ? expression.name.text
        : expression.getText(source)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return name.replace(/^fits/, "").replaceAll('"', "")
}

function declarationsIn(source: ts.SourceFile): Map<string, Kind> {
  const found = new Map<string, Kind>()
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      found.set(statement.name.text, "type")
    } else if (ts.isClassDeclaration(statement)) {
      found.set(statement.name?.text ?? "", "type")
    } else if (ts.isFunctionDeclaration(statement)) {
      found.set(statement.name?.text ?? "", "value")
    } else if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        found.set(name.getText(source), "value")
    } else if (ts.isImportDeclaration(statement)) {
      const bindings = statement.importClause?.namedBindings
      if (bindings === undefined || !ts.isNamedImports(bindings)) continue
      for (const { name } of bindings.elements) found.set(name.text, "import")
    }
  }
  return found
}

function namesIn(source: ts.SourceFile): string[] {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...names]
}

function parse(code: string): ts.SourceFile {
  return ts.createSourceFile("snippet.ts", code, ts.ScriptTarget.ES2023)
}
