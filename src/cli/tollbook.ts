import '@tollbook/core/quietBindings'
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { readConfig } from '../config.ts'
import type { CommandDeps } from './commandDeps.ts'
import { loadCommands } from './loadCommands.ts'
import { endAfterFailure, reportFailure } from './reportFailure.ts'
import { usageExitCode } from './runCommand.ts'

const interrupted = new AbortController()

const payerDeps: CommandDeps = {
  stdout: process.stdout,
  stderr: process.stderr,
  home: () => readConfig().local.home,
  setExitCode: (code) => void (process.exitCode = code),
  interrupted: interrupted.signal,
  clock: systemClock,
}

const program = new Command('tollbook')
  .description(packageJson.description)
  .version(packageJson.version)
  .showHelpAfterError('tollbook --help lists the commands.')
  // Show the usage that each command defines, because the commands of packages parse their own arguments.
  .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}`.trimEnd() })
  .exitOverride()
// On Ctrl-C, abort the command, so that an interrupted payer reports the state of its payment. The commands that serve
// have separate handlers.
process.once('SIGINT', () => interrupted.abort())

// Do not end a long-running process with exit code 0 if the reader of its log has ended.
const [, , name = '', ...words] = process.argv
const isLongRunning =
  ['serve', 'demo', 'chain', 'signer', 'burn', 'proxy'].includes(name) ||
  (name === 'wallet' && words[0] === 'serve') ||
  words.some((word) => word.startsWith('--every'))

// Ignore a closed pipe: `head` closes the pipe when it has read enough lines. A command that writes through
// `openStandardOutput` adds its own listener.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (process.stdout.listenerCount('error') > 1) return
  const isClosed = error.code === 'EPIPE' && !isLongRunning
  // Let a payout send its other parts.
  if (isClosed && name === 'payout') return
  if (isClosed) process.exit()
  endAfterFailure(new Fault('standard output cannot be written', { cause: error, retryable: false }))
})

try {
  for (const command of await loadCommands(name, payerDeps)) program.addCommand(command)
  refuseUnknownHelp(name, words[0])
  await program.parseAsync()
} catch (error) {
  // Report all errors except those of Commander, because Commander has already printed them.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : usageExitCode
  else if (isLongRunning) endAfterFailure(error)
  else reportFailure(error)
}

// Exit now, because pending output to a stalled reader would keep the process open.
if (interrupted.signal.aborted) process.exit()

/**
 * Rejects `help` of an unknown command. Without this check, Commander prints the whole help and does not mention the
 * unknown command.
 */
function refuseUnknownHelp(command: string, asked: string | undefined): void {
  if (command !== 'help' || asked === undefined || program.commands.some((one) => one.name() === asked)) return
  if (!asked.startsWith('-')) program.error(`error: unknown command '${asked}'`)
}
