import { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { CheckFinding, CheckVerdict } from '../doctor/check.ts'
import { examine } from '../doctor/examine.ts'
import { silentLog } from '../machine/log.ts'
import type { CommandDeps } from './commandDeps.ts'
import { findDifferingFunctions } from './differingFunctions.ts'

/** Reports all problems at once, because a start of the service stops at the first part that fails. */
export function doctorCommand(deps: CommandDeps): Command {
  return new Command('doctor')
    .description('check configuration, database, chain and ledger of this installation; changes nothing')
    .option('--json', 'print one JSON object per finding and line')
    .addHelpText(
      'after',
      `
Reads the environment of the service. With MIGRATION_DATABASE_URL it also checks that the triggers of the ledger are enabled.

Exit codes:
  0  no check failed; warnings name weak points
  1  a check failed, and the service would not start or would be unsafe`,
    )
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const findings: CheckFinding[] = []
      await examine({
        // Read the configuration as `npm start` does, so that a configuration with gaps fails.
        config: readConfig(undefined, { start: 'unless-operated' }),
        log: silentLog,
        findDifferingFunctions,
        onFinding(finding) {
          findings.push(finding)
          deps.stdout.write(json ? `${JSON.stringify(finding)}\n` : `${textOfFinding(finding)}\n`)
        },
      })
      const count = (verdict: CheckVerdict) => findings.filter((finding) => finding.verdict === verdict).length
      const counts = `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('skipped')} skipped`
      if (!json) deps.stdout.write(`\n${counts}\n`)
      deps.setExitCode(count('failed') > 0 ? 1 : 0)
    })
}

const marks: Readonly<Record<CheckVerdict, string>> = { ok: 'ok  ', warning: 'warn', failed: 'FAIL', skipped: 'skip' }

export function textOfFinding({ check, verdict, detail, fix }: CheckFinding): string {
  const text = `${marks[verdict]}  ${check}: ${detail}`
  return fix === undefined ? text : `${text}\n      fix: ${fix}`
}
