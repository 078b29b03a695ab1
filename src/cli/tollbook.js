#!/usr/bin/env node
// The sources are TypeScript and run as they are, which Node can since 22.18; an older one would die of a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  await import('./tollbook.ts')
} else {
  process.stderr.write(
    `tollbook needs Node 24, this is ${process.versions.node}. Run it with npx, which takes the one in node_modules.\n`,
  )
  process.exitCode = 1
}
