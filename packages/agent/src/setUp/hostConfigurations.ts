import { fileURLToPath } from 'node:url'

export function hostConfigurations(folder: string): string {
  const { command, args } = launchOf(folder)
  const server = { command, args }
  const words = [command, ...args].map((word) => (/[\s']/.test(word) ? JSON.stringify(word) : word)).join(' ')
  return `
Claude Desktop (claude_desktop_config.json), Cursor (~/.cursor/mcp.json), Windsurf, Gemini CLI:
${JSON.stringify({ mcpServers: { tollbook: server } }, null, 2)}

VS Code (.vscode/mcp.json):
${JSON.stringify({ servers: { tollbook: { type: 'stdio', ...server } } }, null, 2)}

Claude Code:  claude mcp add tollbook -- ${words}
Codex:        codex mcp add tollbook -- ${words}
`
}

const packageName = '@tollbook/agent'

/**
 * A package that `npx` has fetched starts by its name, because `npx` may delete its files. An installed package and the
 * repository start by their program file, because the registry may not have the package.
 */
function launchOf(folder: string): { readonly command: string; readonly args: readonly string[] } {
  const own = ['mcp', '--folder', folder]
  const here = import.meta.url
  if (here.includes('/_npx/')) return { command: 'npx', args: ['-y', packageName, ...own] }
  const program = new URL(here.endsWith('.ts') ? '../main.ts' : '../main.js', here)
  return { command: process.execPath, args: [fileURLToPath(program), ...own] }
}
