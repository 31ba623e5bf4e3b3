npm install @modelcontextprotocol/client
npx tsx --env-file=client.env agent.ts
