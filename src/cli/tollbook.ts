import '../primitives/quietBindings.ts'
import { Command, CommanderError } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { readConfig } from '../config.ts'
import { anchorCommand } from './anchor.ts'
import { auditCommand } from './audit.ts'
import { chainCommand } from './chain.ts'
import type { CommandDeps } from './commandDeps.ts'
import { demoCommand } from './demo.ts'
import { exportCommand } from './export.ts'
import { faucetCommand } from './faucet.ts'
import { migrateCommand } from './migrate.ts'
import { payCommand } from './pay.ts'
import { payoutCommand } from './payout.ts'
import { provisionCommand } from './provision.ts'
import { receiptKeyCommand } from './receiptKey.ts'
import { findDatabase, reportCommand } from './report.ts'
import { reportFailure } from './reportFailure.ts'
import { serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

const interrupted = new AbortController()

const payerDeps: CommandDeps = {
  stdout: process.stdout,
  stderr: process.stderr,
  home: () => readConfig().home,
  setExitCode: (code) => void (process.exitCode = code),
  interrupted: interrupted.signal,
}

const program = new Command('tollbook')
  .description(packageJson.description)
  .version(packageJson.version)
  .showHelpAfterError()
  .exitOverride()
for (const command of [
  serveCommand(),
  demoCommand(),
  payCommand(payerDeps),
  verifyCommand(payerDeps),
  exportCommand(payerDeps),
  auditCommand(payerDeps),
  anchorCommand(payerDeps),
  faucetCommand(payerDeps),
  payoutCommand(payerDeps),
  chainCommand(),
  provisionCommand(),
  migrateCommand(),
  receiptKeyCommand(),
  reportCommand({ ...payerDeps, databaseUrl: findDatabase }),
]) {
  program.addCommand(command)
}
// A payer that is interrupted says what became of the payment; the commands that serve stop by their own handler.
process.once('SIGINT', () => interrupted.abort())

const usageExitCode = 2

try {
  await program.parseAsync()
} catch (error) {
  // Commander has told the user already; everything else has not been said yet.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : usageExitCode
  else reportFailure(error)
}
