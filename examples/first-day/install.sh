npm init -y
npm pkg set type=module
npm install @alkdev/operations ws
npm install --save-dev tsx
