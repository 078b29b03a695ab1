import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { type AgentArguments, agentHelp, readAgentArguments, UsageError } from './agentArguments.ts'
import { connectWallet } from './client/walletClient.ts'
import { serveMcp } from './mcp/serveMcp.ts'
import { readHostTools } from './mcp/serviceTools.ts'
import { payOnce } from './payOnce.ts'
import { PolicyProblem } from './policy/policy.ts'
import { readPolicyFile } from './policy/policyFile.ts'
import { serveProxy } from './proxy/serveProxy.ts'
import { type LocalService, setUp, SetUpProblem } from './setUp/setUp.ts'
import { startWallet } from './wallet/walletProcess.ts'

/**
 * 2: the owner must correct an option, the policy or the setup. 1: any other failure, and an answer whose status is not
 * 2xx.
 */
export const agentExitCodes = { done: 0, failed: 1, usage: 2 } as const

export interface AgentDeps {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  /** Ctrl-C and SIGTERM abort this signal. */
  readonly stopped: AbortSignal
  /** For `mcp init`. Undefined if local mode has not run on this machine. */
  readonly readLocal?: () => Promise<LocalService | undefined>
}

type Perform = (given: AgentArguments, deps: AgentDeps) => Promise<number>

const commands: ReadonlyMap<string, Perform> = new Map([
  ['mcp', serveHost],
  ['mcp init', init],
  ['pay', pay],
  ['proxy', proxy],
  ['wallet serve', serveWallet],
])

export async function runAgentCommand(argv: readonly string[], deps: AgentDeps): Promise<number> {
  try {
    const given = readAgentArguments(argv)
    if (given.asksForHelp) {
      deps.stdout.write(agentHelp)
      return agentExitCodes.done
    }
    const [first = ''] = given.words
    // Only `pay` has arguments. A mistyped `mcp init` must not wait for a host.
    const perform = commands.get(first === 'pay' ? first : given.words.join(' '))
    if (perform === undefined) throw new UsageError(`there is no command '${given.words.join(' ')}'\n\n${agentHelp}`)
    return await perform(given, deps)
  } catch (error) {
    const isUsage = [PolicyProblem, SetUpProblem, UsageError].some((kind) => error instanceof kind)
    deps.stderr.write(`${isUsage && error instanceof Error ? error.message : describeError(error)}\n`)
    return isUsage ? agentExitCodes.usage : agentExitCodes.failed
  }
}

async function serveWallet({ folder, exitsWhenIdle }: AgentArguments, deps: AgentDeps): Promise<number> {
  const wallet = await startWallet({ folder, report: reportTo(deps) })
  deps.stdout.write(`wallet of ${folder.path} is served by process ${wallet.pid}\n`)
  if (wallet.server === undefined) return agentExitCodes.done
  const idle = exitsWhenIdle ? [untilIdle(wallet.server)] : []
  await Promise.race([untilAborted(deps.stopped), wallet.replaced, ...idle])
  await wallet.close()
  return agentExitCodes.done
}

// Idle time after which the wallet process ends, so that its key is not in memory without need.
const idleMaxMs = 15 * 60 * 1000

/** Ends after `idleMaxMs` without a request. A streamed answer may take longer than that. */
export function untilIdle(server: Server): Promise<void> {
  return new Promise((done) => {
    let answering = 0
    let timer = setTimeout(done, idleMaxMs).unref()
    server.on('request', (_request, response) => {
      answering += 1
      clearTimeout(timer)
      response.once('close', () => {
        answering -= 1
        if (answering === 0) timer = setTimeout(done, idleMaxMs).unref()
      })
    })
  })
}

async function serveHost({ folder }: AgentArguments, deps: AgentDeps): Promise<number> {
  const wallet = connectWallet(folder, systemClock)
  const { policy } = await readPolicyFile(folder.policy)
  const hostTools = await readHostTools(wallet, policy)
  const server = serveMcp({ version: readVersion(), wallet, hostTools, report: reportTo(deps) })
  await untilInputEnds(deps.stopped)
  await server.close()
  return agentExitCodes.done
}

async function init({ folder, service, rpcUrl }: AgentArguments, { stdout, readLocal }: AgentDeps): Promise<number> {
  const local = await readLocal?.()
  await setUp({
    folder,
    service,
    rpcUrl,
    local,
    write: (text) => void stdout.write(text),
  })
  return agentExitCodes.done
}

async function pay({ folder, words, json, maxUsd }: AgentArguments, deps: AgentDeps): Promise<number> {
  const [, method, url] = words
  if (method === undefined || url === undefined) throw new UsageError('pay needs a method and a URL')
  const isAnswered = await payOnce(connectWallet(folder, systemClock), { method, url, json, maxUsd }, deps)
  return isAnswered ? agentExitCodes.done : agentExitCodes.failed
}

async function proxy({ folder, port }: AgentArguments, deps: AgentDeps): Promise<number> {
  const write = (text: string) => void deps.stdout.write(text)
  const server = await serveProxy({ folder, port, report: reportTo(deps), write })
  await untilAborted(deps.stopped)
  server.close()
  server.closeAllConnections()
  return agentExitCodes.done
}

function reportTo({ stderr }: AgentDeps): (line: string) => void {
  return (line) => void stderr.write(`${line}\n`)
}

function readVersion(): string {
  const manifest = z.object({ version: z.string() })
  return manifest.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))).version
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}

/** Waits until standard input ends or the command is stopped. A host ends its server by closing standard input. */
async function untilInputEnds(stopped: AbortSignal): Promise<void> {
  const ended = new Promise<void>((done) => {
    process.stdin.once('end', () => done())
    process.stdin.once('close', () => done())
  })
  await Promise.race([ended, untilAborted(stopped)])
}
