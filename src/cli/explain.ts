import { Command } from 'commander'
import { subjectForms } from '../diagnosis/readSubject.ts'
import type { CommandDeps } from './commandDeps.ts'
import { withDiagnosis } from './diagnosisAccess.ts'
import { explanationText } from './explanationText.ts'
import { runDecision, type DecisionFlags } from './refund.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

const unknownExitCode = 4

const exitHelp = `
DATABASE_URL is a login of tollbook_service or tollbook_reader; FINANCE_DATABASE_URL is one of tollbook_finance, to record.
SOLANA_RPC_URLS, TOKEN_MINT and PAYMENT_WALLET name the chain. Local mode is detected automatically.

Exit codes:
  0  explained, or recorded
  2  wrong usage
  4  no quote or receipt with this id is on record; or nothing was recorded, and the message says why
  7  the database does not answer`

interface ExplainFlags extends DecisionFlags {
  readonly [option: string]: string | boolean | undefined
  readonly json?: boolean
}

/** The diagnosis calls the rules of `src/payment` that the paywall also calls, so both reach the same verdict. */
export function explainCommand(deps: CommandDeps): Command {
  return new Command('explain')
    .description('explain one payment: what chain and ledger say, each rule, each attempt, and what to do next')
    .argument('<subject>', 'signature, reference, receipt id or quote id')
    .option('--json', 'one JSON object, for programs')
    .option('--book', 'record a transfer that was never presented, or a due refund, at once')
    .option('--reason <text>', 'with --book: the reason, which is recorded')
    .option('--by <name>', 'with --book: the person who decides; recorded with the login')
    .addHelpText('after', exitHelp)
    .action((subject: string, flags: ExplainFlags) =>
      flags['book'] === true
        ? runDecision(deps, 'record', { payment: subject, flags })
        : explainOne(deps, subject, flags.json === true),
    )
}

function explainOne(deps: CommandDeps, subject: string, asJson: boolean): Promise<void> {
  return withDiagnosis(deps, 'reader', async (diagnosis) => {
    const found = await diagnosis.explain(subject)
    if (found === 'unreadable')
      throw new UsageProblem('<subject>', `must be ${subjectForms} (got ${subject.slice(0, 100)})`)
    if (found === 'unknown') {
      deps.stderr.write(
        `${subject} is not on record. Quotes are kept for days: explain the signature of the payment.\n`,
      )
      return unknownExitCode
    }
    deps.stdout.write(asJson ? `${JSON.stringify(found)}\n` : explanationText(found))
    return 0
  })
}
