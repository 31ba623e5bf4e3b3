npm init -y
npm pkg set type=module scripts.types=tsc
npm install @alkdev/operations ws
npm install --save-dev tsx typescript @types/node
