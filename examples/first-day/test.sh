npm run types
npx tsx --test tasks.test.ts
