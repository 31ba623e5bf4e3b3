npx tsx --env-file=client.env client.ts
