import { Command } from 'commander'
import type { CommandDeps } from './commandDeps.ts'
import { readLocal } from './localJson.ts'

/*
 * The commands of packages/agent. These commands parse their own options, and their code is loaded when they are
 * called, so that other commands start without it.
 */

const descriptions = {
  mcp: 'serve an agent wallet to a host of MCP, over standard input and output',
  proxy: 'pay for programs that cannot: an HTTP proxy on this machine with an agent wallet',
  serve: 'run the process of an agent wallet, which pays within the policy of its owner',
} as const

/** `words` are the command as the package names it, for example `wallet serve`. */
export function agentCommand(deps: CommandDeps, name: keyof typeof descriptions, words: readonly string[]): Command {
  const command = new Command(name)
    .description(descriptions[name])
    .usage('[options]')
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
  return command.action(async () => {
    const { runAgentCommand } = await import('@tollbook/agent/agentCommand')
    const terminated = new AbortController()
    // MCP hosts and supervisors stop a process by SIGTERM, and `interrupted` covers Ctrl-C only.
    process.once('SIGTERM', () => terminated.abort())
    const stopped = AbortSignal.any([deps.interrupted, terminated.signal])
    deps.setExitCode(
      await runAgentCommand([...words, ...command.args], { ...deps, stopped, readLocal: () => readLocal(deps) }),
    )
  })
}
