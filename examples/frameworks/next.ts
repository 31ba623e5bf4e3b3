// app/api/v1/[...path]/route.ts
import { api } from "@/lib/api"

const handle = (request: Request): Promise<Response> => api.fetch(request)

export { handle as GET, handle as HEAD, handle as OPTIONS }
export { handle as POST, handle as PUT, handle as PATCH, handle as DELETE }
