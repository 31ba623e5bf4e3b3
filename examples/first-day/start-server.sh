npx tsx --env-file=server.env serve.ts
