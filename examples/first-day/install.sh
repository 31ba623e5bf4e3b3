npm init -y
npm pkg set type=module
npm install @alkdev/operations ws @modelcontextprotocol/server
npm install --save-dev tsx
