import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"
import { COLORS, drawCard } from "./notes-card.ts"

const Note = z.object({
  id: z.int(),
  title: z.string(),
  text: z.string(),
  color: z.enum(COLORS),
  tags: z.array(z.string()),
})

type Note = z.infer<typeof Note>

const notes: Note[] = [
  {
    id: 1,
    title: "Welcome",
    text: "These notes are kept by an MCP server.",
    color: "yellow",
    tags: [],
  },
  {
    id: 2,
    title: "Opening hours",
    text: "Monday to Friday, 8 to 18\nSaturday, 9 to 14",
    color: "blue",
    tags: ["shop"],
  },
]

function createServer(): McpServer {
  const server = new McpServer({ name: "notes", title: "Sticky notes", version: "1.0.0" })
  addWriting(server)
  addReading(server)
  addClearing(server)
  return server
}

function addWriting(server: McpServer): void {
  server.registerTool(
    "add_note",
    {
      title: "Write a note",
      description: "Writes something down on a sticky note",
      inputSchema: z.object({
        title: z.string().min(1).max(80).describe("The subject"),
        text: z.string().describe("The text; may contain Markdown"),
        color: z.enum(COLORS).default("yellow").describe("The color of the paper"),
        tags: z.array(z.string()).max(10).optional().describe("Tags to find it by"),
      }),
      outputSchema: Note,
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    ({ title, text, color, tags = [] }) => {
      const id = notes.reduce((most, note) => Math.max(most, note.id), 0) + 1
      const note: Note = { id, title, text, color, tags }
      notes.push(note)
      return {
        structuredContent: note,
        content: [{ type: "text", text: `Note ${id} is written.` }, linkTo(note)],
      }
    },
  )
}

function addReading(server: McpServer): void {
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
  server.registerTool(
    "find_notes",
    {
      title: "Find notes",
      description: "Finds notes by a word, by color, or lists all of them",
      inputSchema: z.object({
        word: z.string().optional().describe("In the title, the text or a tag"),
        color: z.enum(COLORS).optional(),
      }),
      outputSchema: z.object({ notes: z.array(Note) }),
      annotations,
    },
    ({ word = "", color }) => {
      const found = notes.filter(
        (note) => holds(note, word) && (color ?? note.color) === note.color,
      )
      return {
        structuredContent: { notes: found },
        content: [{ type: "text", text: found.map(markdown).join("\n\n") }],
      }
    },
  )
  server.registerTool(
    "read_note",
    {
      title: "Read a note",
      description: "Returns a note as a Markdown document",
      inputSchema: z.object({ id: z.int().min(1) }),
      annotations,
    },
    ({ id }) => {
      const note = noteWith(id)
      const resource = { uri: uriOf(note), mimeType: "text/markdown", text: markdown(note) }
      return { content: [{ type: "resource", resource }] }
    },
  )
  server.registerTool(
    "draw_note",
    {
      title: "Draw a note",
      description: "Returns an image of a note, with a stroke for each word",
      inputSchema: z.object({ id: z.int().min(1) }),
      annotations,
    },
    ({ id }) => {
      const { color, text, title } = noteWith(id)
      const data = drawCard(color, `${title} ${text}`.split(/\s+/)).toString("base64")
      return { content: [{ type: "image", mimeType: "image/png", data }] }
    },
  )
}

function addClearing(server: McpServer): void {
  const Answer = z.object({ sure: z.boolean().describe("Throw them all away?") })
  server.registerTool(
    "clear_notes",
    {
      title: "Throw all notes away",
      description: "Deletes all notes, after the user has confirmed it",
      outputSchema: z.object({ removed: z.int() }),
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    ({ mcpReq: { inputResponses } }) => {
      if (inputResponse(inputResponses, "sure").kind === "missing") {
        const message = `There are ${notes.length} notes.`
        const sure = inputRequired.elicit({ message, requestedSchema: Answer })
        return inputRequired({ inputRequests: { sure } })
      }
      const isSure = acceptedContent(inputResponses, "sure", Answer)?.sure === true
      const removed = isSure ? notes.splice(0).length : 0
      return {
        structuredContent: { removed },
        content: [{ type: "text", text: `${removed} notes are gone.` }],
      }
    },
  )
}

function noteWith(id: number): Note {
  const note = notes.find((one) => one.id === id)
  if (note !== undefined) return note
  throw new Error(`There is no note ${id}. See find_notes.`)
}

function holds({ title, text, tags }: Note, word: string): boolean {
  return [title, text, ...tags].join("\n").toLowerCase().includes(word.toLowerCase())
}

function markdown({ title, text }: Note): string {
  return `# ${title}\n\n${text}`
}

function uriOf({ id }: Note): string {
  return `notes://${id}`
}

function linkTo(note: Note): { type: "resource_link"; uri: string; name: string } {
  return { type: "resource_link", uri: uriOf(note), name: note.title }
}

serveStdio(createServer)
