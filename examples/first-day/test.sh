npx tsx --test tasks.test.ts
