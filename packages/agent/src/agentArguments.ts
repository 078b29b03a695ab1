import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type WalletFolder, walletFolder } from './walletFolder.ts'

export const agentHelp = `Usage: tollbook-agent <command> [options]

A wallet for agents, which pays services within a policy that no tool can change.

Commands:
  mcp                     serve the wallet to a host of MCP, over standard input and output
  mcp init                write the policy, make the wallet, and print the configuration of the host
  pay <method> <url>      buy one answer and print it
  proxy                   pay for programs that cannot: an HTTP proxy on this machine
  wallet serve            run the wallet process; the other commands start it when it is missing

Options:
  --folder <path>         folder of the wallet (default: ~/.tollbook/wallet)
  --port <number>         port of the proxy (default: 8410)
  --service <url>         init: base URL of a service that the agent may pay
  --rpc-url <url>         init: a Solana node (default: the public one of mainnet)
  --json <body>           pay: body of the request
  --max-usd <amount>      pay: refuse a higher price
  -h, --help              print this help
`

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const options = {
  folder: { type: 'string' },
  port: { type: 'string' },
  service: { type: 'string' },
  'rpc-url': { type: 'string' },
  json: { type: 'string' },
  'max-usd': { type: 'string' },
  'exit-when-idle': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export type AgentArguments = Readonly<ReturnType<typeof readAgentArguments>>

export function readAgentArguments(argv: readonly string[]) {
  const { values, positionals: words } = parse(argv)
  const {
    folder = join(homedir(), '.tollbook', 'wallet'),
    service,
    'rpc-url': rpcUrl,
    json,
    'max-usd': maxUsd,
  } = values
  return {
    words,
    asksForHelp: values.help === true,
    folder: readFolder(folder),
    port: readPort(values.port),
    service,
    rpcUrl,
    json,
    maxUsd,
    exitsWhenIdle: values['exit-when-idle'] === true,
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    const [sentence] = error instanceof Error ? error.message.split('. ') : [String(error)]
    throw new UsageError(`${sentence}; --help lists the options`)
  }
}

// Length of `sun_path` on Linux without the final zero. A longer path fails with EINVAL, which names no length.
const socketPathBytesMax = 107

function readFolder(path: string): WalletFolder {
  const folder = walletFolder(resolve(path))
  const bytes = Buffer.byteLength(folder.socket)
  if (bytes <= socketPathBytesMax) return folder
  throw new UsageError(
    `--folder is too long: its socket ${folder.socket} has ${bytes} bytes, and at most ${socketPathBytesMax} are possible`,
  )
}

const portDefault = 8_410

function readPort(text: string | undefined): number {
  if (text === undefined) return portDefault
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port must be a number from 0 to 65535 (got '${text}')`)
}
