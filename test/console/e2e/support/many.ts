/** An OpenAPI document with so many operations: `thing0000_read`, `thing0001_read` and so on. */
export function manyOperations(count: number): string {
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const number = String(index).padStart(4, "0")
      const get = {
        operationId: `thing${number}_read`,
        summary: `Read thing ${number}`,
        description: `Gives all that is known of thing ${number}, which is kept on shelf ${index % 97}.`,
        tags: [`shelf ${index % 97}`],
        parameters: [{ name: "depth", in: "query", schema: { type: "integer" } }],
        responses: { 200: { description: "A thing" } },
      }
      return [`/things/${number}`, { get }]
    }),
  )
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Many things", version: "1.0.0" },
    servers: [{ url: "http://127.0.0.1:1" }],
    paths,
  })
}
