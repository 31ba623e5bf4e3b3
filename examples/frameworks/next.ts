// app/api/v1/[...path]/route.ts
import { api } from "./api.ts"

const handle = (request: Request): Promise<Response> => api.fetch(request)

export { handle as GET, handle as HEAD, handle as POST, handle as OPTIONS, handle as DELETE }
