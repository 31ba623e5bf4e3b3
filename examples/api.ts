import { createRegistry } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"

const options = JSON.parse(`{ "expose": { "exclud": ["task.*"] } }`)
try {
  toHTTP(createRegistry([]), options)
} catch (error) {
  console.log(String(error))
}
