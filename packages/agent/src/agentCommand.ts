import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { connectWallet } from './client/walletClient.ts'
import { serveMcp } from './mcp/serveMcp.ts'
import { readHostTools } from './mcp/serviceTools.ts'
import { PolicyProblem } from './policy/policy.ts'
import { readPolicyFile } from './policy/policyFile.ts'
import { serveProxy } from './proxy/serveProxy.ts'
import { exitWhenIdle } from './wallet/idleExit.ts'
import { type WalletFolder, walletFolder } from './walletFolder.ts'
import { startWallet } from './wallet/walletProcess.ts'

/* `tollbook-agent`: the wallet process and its front ends. */

export const agentHelp = `Usage: tollbook-agent <command> [options]

A wallet for agents, which pays services within a policy that no tool can change.

Commands:
  mcp                     serve the wallet to a host of MCP, over standard input and output
  proxy                   pay for programs that cannot: an HTTP proxy on this machine
  wallet serve            run the wallet process; the other commands start it when it is missing

Options:
  --folder <path>         folder of the wallet (default: ~/.tollbook/wallet)
  --port <number>         port of the proxy (default: 8410)
  -h, --help              print this help
`

export const agentExitCodes = { done: 0, failed: 1, usage: 2 } as const

export interface AgentDeps {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly stopped: AbortSignal
}

const options = {
  folder: { type: 'string' },
  port: { type: 'string' },
  'exit-when-idle': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Given {
  readonly words: string
  readonly folder: WalletFolder
  readonly port: number
  readonly exitsWhenIdle: boolean
}

/** Returns the exit code, once the command has ended. */
export async function runAgentCommand(argv: readonly string[], deps: AgentDeps): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    if (values.help === true) {
      deps.stdout.write(agentHelp)
      return agentExitCodes.done
    }
    const folder = walletFolder(resolve(values.folder ?? join(homedir(), '.tollbook', 'wallet')))
    const port = readPort(values.port)
    const given = { words: positionals.join(' '), folder, port, exitsWhenIdle: values['exit-when-idle'] === true }
    return await perform(given, deps)
  } catch (error) {
    deps.stderr.write(`${error instanceof PolicyProblem ? error.message : describeError(error)}\n`)
    return error instanceof PolicyProblem || isUsage(error) ? agentExitCodes.usage : agentExitCodes.failed
  }
}

async function perform({ words, folder, port, exitsWhenIdle }: Given, deps: AgentDeps): Promise<number> {
  const report = (line: string) => void deps.stderr.write(`${line}\n`)
  switch (words) {
    case 'wallet serve': {
      const wallet = await startWallet({ folder, report })
      deps.stdout.write(`wallet of ${folder.path} is served by process ${wallet.pid}\n`)
      if (wallet.server === undefined) return agentExitCodes.done
      const ended = exitsWhenIdle ? exitWhenIdle(wallet.server, deps.stopped) : untilAborted(deps.stopped)
      await Promise.race([ended, wallet.replaced])
      await wallet.close()
      return agentExitCodes.done
    }
    case 'mcp': {
      const wallet = connectWallet(folder, systemClock)
      const { policy } = await readPolicyFile(folder.policy)
      const server = serveMcp({
        version: readVersion(),
        wallet,
        hostTools: await readHostTools(wallet, policy),
        report,
      })
      await untilInputEnds(deps.stopped)
      await server.close()
      return agentExitCodes.done
    }
    case 'proxy': {
      const proxy = await serveProxy({ folder, port, report, write: (text) => void deps.stdout.write(text) })
      await untilAborted(deps.stopped)
      proxy.close()
      proxy.closeAllConnections()
      return agentExitCodes.done
    }
    default:
      deps.stderr.write(`there is no command '${words}'\n\n${agentHelp}`)
      return agentExitCodes.usage
  }
}

function readVersion(): string {
  const manifest = z.object({ version: z.string() })
  return manifest.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version
}

const portDefault = 8_410

function readPort(text: string | undefined): number {
  if (text === undefined) return portDefault
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port must be a number from 0 to 65535 (got '${text}')`)
}

function isUsage(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  )
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}

/** A host ends a server by closing its input. */
async function untilInputEnds(stopped: AbortSignal): Promise<void> {
  const ended = new Promise<void>((done) => {
    process.stdin.once('end', () => done())
    process.stdin.once('close', () => done())
  })
  await Promise.race([ended, untilAborted(stopped)])
}
