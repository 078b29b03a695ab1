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

/** The published package starts by its name, and the repository by its program file. */
function launchOf(folder: string): { readonly command: string; readonly args: readonly string[] } {
  const own = ['mcp', '--folder', folder]
  if (!import.meta.url.endsWith('.ts')) return { command: 'npx', args: ['-y', packageName, ...own] }
  return { command: process.execPath, args: [fileURLToPath(new URL('../main.ts', import.meta.url)), ...own] }
}
