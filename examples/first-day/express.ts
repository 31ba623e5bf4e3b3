import { toHTTP } from "@alkdev/operations/to-http"
import express from "express"
import { createTasks } from "./tasks.ts"

const app = express()
app.use("/tasks", toHTTP(createTasks()).node)
app.listen(3001, "127.0.0.1", () => console.log("Express is ready"))
