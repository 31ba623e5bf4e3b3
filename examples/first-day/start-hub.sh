export $(cat client.env)
npx @alkdev/operations serve --port 3003
