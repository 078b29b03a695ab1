import '@tollbook/core/quietBindings'
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
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
}

const program = new Command('tollbook')
  .description(packageJson.description)
  .version(packageJson.version)
  .showHelpAfterError('tollbook --help lists the commands.')
  // Two commands parse their own arguments, and their usage names them.
  .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}`.trimEnd() })
  .exitOverride()
for (const command of await loadCommands(process.argv[2], payerDeps)) program.addCommand(command)
// A payer that is interrupted says what became of the payment; the commands that serve stop by their own handler.
process.once('SIGINT', () => interrupted.abort())

// A process that runs until it is stopped must not end with 0 because its log has no reader.
const isLongRunning = ['serve', 'demo', 'chain', 'signer', 'burn'].includes(process.argv[2] ?? '')

// `head` closes the pipe when it has read enough. An export has its own listener.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (process.stdout.listenerCount('error') > 1) return
  if (error.code !== 'EPIPE' || isLongRunning) throw error
  process.exit()
})

try {
  refuseUnknownHelp(process.argv[2], process.argv[3])
  await program.parseAsync()
} catch (error) {
  // Commander has reported its own errors already; all others are reported here.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : usageExitCode
  else if (isLongRunning) endAfterFailure(error)
  else reportFailure(error)
}

// Text that waits for a reader who does not read would hold the process for as long as that reader lives.
if (interrupted.signal.aborted) process.exit()

/** Commander answers `help` of an unknown command with the whole help, and does not name it. */
function refuseUnknownHelp(command: string | undefined, asked: string | undefined): void {
  if (command !== 'help' || asked === undefined || program.commands.some((one) => one.name() === asked)) return
  if (!asked.startsWith('-')) program.error(`error: unknown command '${asked}'`)
}
