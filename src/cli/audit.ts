import { Command } from 'commander'
import { type KnownLedger, runAuditCommand } from '@tollbook/audit/auditCommand'
import { auditHelp, auditOptionNames, UsageError } from '@tollbook/audit/commandArguments'
import { findLedger } from './installation.ts'
import type { CommandDeps } from './commandDeps.ts'
import { refuseMistyped } from './mistypedOption.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/**
 * The audit is a separate package, because a check that shares code with the writer would confirm its errors (decision
 * 0012).
 */
export function auditCommand(deps: CommandDeps): Command {
  const command = new Command('audit')
    .description('replay the ledger or a jsonl export of it with independent code, and report every discrepancy')
    .usage('[options] [export]')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async () => {
      const { stdout, stderr, interrupted, clock } = deps
      refuseMistyped(command, auditOptionNames)
      const code = await runAuditCommand(command.args, {
        stdout,
        stderr,
        interrupted,
        findLedger: (database) => findKnownLedger(deps, database),
        clock,
      })
      deps.setExitCode(code)
    })
  // Show the help of packages/audit, because its command parses its own options.
  command.helpInformation = () => auditHelp.replace('tollbook-audit', 'tollbook audit')
  return command
}

/**
 * Finds the ledger to audit. packages/audit has its own error for wrong usage, because it imports nothing of src
 * (decision 0012).
 */
async function findKnownLedger(deps: CommandDeps, database: string | undefined): Promise<KnownLedger> {
  try {
    return await findLedger(deps, database)
  } catch (error) {
    if (error instanceof UsageProblem) throw new UsageError(error.message)
    throw error
  }
}
