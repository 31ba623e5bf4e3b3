npx tsc
npx tsx --test tasks.test.ts
