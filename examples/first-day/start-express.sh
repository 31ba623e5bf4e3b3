npm install express
npx tsx express.ts
