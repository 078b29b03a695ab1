import { Command } from 'commander'
import { formatDecimal } from '@tollbook/core/money'
import type { MintReconciliation } from '../diagnosis/openDiagnosis.ts'
import type { CommandDeps } from './commandDeps.ts'
import { withDiagnosis } from './diagnosisAccess.ts'

const differsExitCode = 9

const exitHelp = `
DATABASE_URL is a login of tollbook_service or tollbook_reader. Local mode is detected automatically.

Exit codes:
  0  the payment wallets hold what the ledger says
  2  wrong usage
  7  the database or the Solana node does not answer
  9  they differ: each transfer that is not in the ledger is listed`

/** A bare difference does not help an operator, so each transfer that makes it is listed with its sender and a proposal. */
export function reconcileCommand(deps: CommandDeps): Command {
  return new Command('reconcile')
    .description(
      'compare the payment wallets with the ledger in each mint, and list the transfers that explain the difference',
    )
    .option('--json', 'JSON with one object for each mint, for programs')
    .addHelpText('after', exitHelp)
    .action(({ json }: { readonly json?: boolean }) =>
      withDiagnosis(deps, 'reader', async (diagnosis) => {
        const found = await diagnosis.reconcile()
        deps.stdout.write(json === true ? `${JSON.stringify(found)}\n` : found.map(textOf).join('\n'))
        return found.every(({ differenceBaseUnits }) => differenceBaseUnits === '0') ? 0 : differsExitCode
      }),
    )
}

function textOf(found: MintReconciliation): string {
  const tokens = (baseUnits: string) => formatDecimal(BigInt(baseUnits), found.decimals)
  const lines = [
    `${found.name}, ${found.mint}`,
    `Payment wallets, on chain   ${tokens(found.chainBaseUnits)}`,
    `Payment wallets, in ledger  ${tokens(found.ledgerBaseUnits)}`,
    `Difference                  ${tokens(found.differenceBaseUnits)}`,
    ...found.transfers.flatMap(({ signature, blockTime, baseUnits, wallet, proposal }) => [
      '',
      signature,
      `  ${tokens(baseUnits)} tokens at ${blockTime ?? 'an unknown time'}${wallet === null ? '' : ` from ${wallet}`}`,
      `  ${proposal}`,
    ]),
    ...(found.remainderBaseUnits === '0'
      ? []
      : ['', `Not explained by the newest ${found.searched} transactions: ${tokens(found.remainderBaseUnits)}`]),
  ]
  return `${lines.join('\n')}\n`
}
