npm install fastify
npx tsx fastify.ts
