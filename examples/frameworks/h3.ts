import { H3 } from "h3"
import { api } from "./api.ts"

export const app = new H3()
app.all("/api/v1/**", (event) => api.fetch(event.req))
