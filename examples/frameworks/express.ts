import express from "express"
import { api } from "./api.ts"

export const app = express()
app.use(express.json())
app.use("/api/v1", api.node)
