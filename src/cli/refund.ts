import { Command, Option } from 'commander'
import { parseDecimal } from '@tollbook/core/money'
import { readSubject } from '../diagnosis/readSubject.ts'
import type { RefundAction } from '../diagnosis/recordDecision.ts'
import type { CommandDeps } from './commandDeps.ts'
import { refusedExitCode } from './runCommand.ts'
import type { OpenDiagnosis } from '../diagnosis/openDiagnosis.ts'
import { withDiagnosis } from './diagnosisAccess.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

const roles = ['finance', 'support'] as const

export interface DecisionFlags {
  readonly reason?: string
  readonly by?: string
  readonly role?: (typeof roles)[number]
  readonly amount?: string
}

const exitHelp = `
FINANCE_DATABASE_URL is a login of tollbook_finance; local mode is detected automatically. Nothing is paid here: \`tollbook payout\`
pays the debts.

Exit codes:
  0  recorded
  2  wrong usage
  4  refused: the message says why, and nothing was recorded
  7  the database or the Solana node does not answer; run the command again`

/** A decision needs a reason and a person, because it is an event that cannot be taken back (decision 0040). */
export function refundCommand(deps: CommandDeps): Command {
  const command = new Command('refund')
    .description('approve a refund that is due, or refund a delivered answer')
    .addHelpText('after', exitHelp)
  const add = (action: RefundAction, description: string) =>
    command
      .command(action)
      .description(description)
      .argument('<payment>', 'signature of the payment')
      .requiredOption('--reason <text>', 'the reason, which is recorded')
      .requiredOption('--by <name>', 'the person who decides; recorded with the login')
      .addOption(new Option('--role <role>', 'sets the largest amount').choices(roles).default('finance'))
  add('approve', 'approve the debts of a payment: undelivered, overpaid or unmatched').action(
    (payment: string, flags: DecisionFlags) => runDecision(deps, 'approve', { payment, flags }),
  )
  add('grant', 'refund the price of an answer that was delivered; once for each payment')
    .option('--amount <tokens>', 'part of the price (default: all of it)')
    .action((payment: string, flags: DecisionFlags) => runDecision(deps, 'grant', { payment, flags }))
  add('record', 'record a transfer that was never presented, or a due refund, at once').action(
    (payment: string, flags: DecisionFlags) => runDecision(deps, 'record', { payment, flags }),
  )
  return command
}

interface Decision {
  readonly payment: string
  readonly flags: DecisionFlags
}

export function runDecision(deps: CommandDeps, action: RefundAction, { payment, flags }: Decision): Promise<void> {
  return withDiagnosis(deps, 'finance', async (diagnosis) => {
    const subject = readSubject(payment)
    if (subject?.kind !== 'payment')
      throw new UsageProblem('<payment>', `must be a signature (got ${payment.slice(0, 100)})`)
    // `explain --book` does not require these options. The decision then refuses an empty reason or name.
    const { role = 'finance', reason = '', by = '' } = flags
    const amountBaseUnits = flags.amount === undefined ? undefined : await readAmount(diagnosis, payment, flags.amount)
    const outcome = await diagnosis.decide({ action, reference: subject.reference, by, role, reason, amountBaseUnits })
    if (!outcome.recorded) {
      deps.stderr.write(`nothing was recorded: ${outcome.why}\n`)
      return refusedExitCode
    }
    deps.stdout.write(`${JSON.stringify(outcome)}\n`)
    return 0
  })
}

/** Reads the amount in the decimals of the mint that paid, which may be a dollar and not the token of the service. */
export async function readAmount(
  diagnosis: Pick<OpenDiagnosis, 'explain' | 'decimals'>,
  payment: string,
  amount: string,
): Promise<bigint> {
  const explained = await diagnosis.explain(payment)
  const { decimals } = typeof explained === 'string' ? diagnosis : explained
  const baseUnits = parseDecimal(amount, decimals)
  if (baseUnits === undefined)
    throw new UsageProblem(
      '--amount',
      `must be a decimal such as 0.5, with at most ${decimals} digits after the point (got ${amount})`,
    )
  return baseUnits
}
