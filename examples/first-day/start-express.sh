npm install express
npm install --save-dev @types/express
npx tsx express.ts
