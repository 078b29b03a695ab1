import { Command } from 'commander'
import type { Payout } from '../payout/openPayout.ts'
import { planText } from '../payout/planText.ts'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import type { CommandDeps } from './commandDeps.ts'
import { payoutWallets, runPayout } from './payoutAccess.ts'
import { accountsIn, mintOfPlan, readPlanFile, signatureIn } from './payoutArguments.ts'
import { holdersCommand } from './payoutHolders.ts'
import { printUnsigned, sendParts } from './payoutSend.ts'
import { repeatedOption } from './repeatedOption.ts'
import { writeOutput } from './writeOutput.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

const exitHelp = `
Exit codes:
  0  done; "plan" names each debt that waits, with the reason
  2  wrong usage
  4  refused: the message says why, and nothing was sent or recorded; or "send" has not paid every line, and names the others
  7  the database or the Solana node does not answer, or the transaction is not final yet; run the command again
  130  interrupted; run the command again`

interface PlanFlags {
  readonly wallets?: string
  readonly minTokens?: string
  readonly openAccounts: string
  readonly except: readonly string[]
  readonly fromOldWallet?: boolean
  readonly mint?: string
  readonly output?: string
}

interface SendFlags {
  readonly keypair?: string
  readonly feePayer?: string
  readonly unsigned?: boolean
}

export function payoutCommand(deps: CommandDeps): Command {
  const command = new Command('payout')
    .description('pay out what the ledger owes: plan it, send it, record it')
    .addHelpText('after', exitHelp)
  command
    .command('plan')
    .description('list the wallets to pay, with amounts and debts; moves nothing')
    .option('--wallets <list>', 'wallets by share, such as provider:ADDRESS,holders:ADDRESS; before PAYOUT_WALLETS')
    .option('--min-tokens <amount>', 'let smaller debts wait (default: a hundredth of the cheapest price)')
    .option('--open-accounts <n>', 'open token accounts for up to this many wallets that are not of a share', '0')
    .addOption(repeatedOption('--except <account>', 'leave this debt as it is; may be given more than once'))
    .option('--from-old-wallet', 'pay out of PAYMENT_WALLET although the ledger has another one in force')
    .option('--mint <mint>', 'mint that is paid: its name such as USDC, or its address (default: the token)')
    .option('--output <file>', 'write the plan to a file instead')
    .action((flags: PlanFlags) =>
      runPayout(
        deps,
        () => Promise.resolve(flags.mint),
        (payout) => plan(deps, payout, flags),
      ),
    )
  command
    .command('send')
    .description('sign and send the parts of a plan that are not paid yet; or print them for a multisig')
    .argument('<plan>', 'file of `payout plan`')
    .option('--keypair <file>', "the payment wallet's, in the format of the Solana CLI")
    .option('--fee-payer <file>', 'keypair of another wallet that pays the fees in SOL')
    .option('--unsigned', 'print base64 transactions for others to sign; a blockhash is good for a minute')
    .action((file: string, flags: SendFlags) =>
      runPayout(
        deps,
        () => mintOfPlan('<plan>', file),
        (payout) => send(deps, payout, { file, flags }),
      ),
    )
  command
    .command('record')
    .description('record a payout that is final on chain; safe to repeat')
    .argument('<signature>')
    .requiredOption('--plan <file>', 'the plan that it pays a part of')
    .action((signature: string, { plan: file }: { readonly plan: string }) =>
      runPayout(
        deps,
        () => mintOfPlan('--plan', file),
        async (payout) => {
          const recorded = await payout.record(
            await readPlanFile('--plan', file),
            signatureIn('<signature>', signature),
          )
          deps.stdout.write(`${JSON.stringify(recorded)}\n`)
        },
      ),
    )
  command.addCommand(holdersCommand(deps))
  return command
}

async function plan(deps: CommandDeps, payout: Payout, flags: PlanFlags): Promise<void> {
  const { minTokens, except, fromOldWallet = false, output } = flags
  const { decimals } = payout.terms
  const leastBaseUnits = minTokens === undefined ? undefined : parseDecimal(minTokens, decimals)
  if (minTokens !== undefined && leastBaseUnits === undefined)
    throw new UsageProblem('--min-tokens', `must be a plain decimal such as 0.5 (got ${minTokens})`)
  const openAccountsMax = accountsIn('--open-accounts', flags.openAccounts)
  const destinations = payoutWallets(flags.wallets)
  const request = { destinations, leastBaseUnits, openAccountsMax, except, fromOldWallet }
  const { plan: created, waiting } = await payout.plan(request)
  for (const { account, baseUnits, why } of waiting)
    deps.stderr.write(`waits: ${account}, ${formatDecimal(baseUnits, decimals)} tokens: ${why}\n`)
  if (created === undefined) deps.stderr.write('nothing is owed that could be paid\n')
  else if (output === undefined) deps.stdout.write(planText(created))
  else {
    await writeOutput(output, planText(created))
    const { id, parts, opens = [] } = created
    const figures = { parts: parts.length, opens: opens.length, waiting: waiting.length }
    deps.stdout.write(`${JSON.stringify({ id, ...figures, file: output })}\n`)
  }
}

async function send(
  deps: CommandDeps,
  payout: Payout,
  { file, flags }: { readonly file: string; readonly flags: SendFlags },
): Promise<void> {
  const created = await readPlanFile('<plan>', file)
  // Refuse a plan for holders: only `payout holders pay` records the plan itself before it sends a part.
  if (created.holders !== undefined)
    throw new UsageProblem('<plan>', `${file} is a plan for holders: use \`payout holders pay\``)
  if ((flags.keypair === undefined) === (flags.unsigned !== true))
    throw new UsageProblem('--keypair', 'give either a keypair or --unsigned')
  const parts = await payout.openParts(created)
  if (parts.length === 0) deps.stderr.write('every part of the plan is on chain or in the ledger already\n')
  if (flags.keypair === undefined) await printUnsigned(deps, payout, { plan: created, parts })
  else await sendParts(deps, payout, { plan: created, parts, keypair: flags.keypair, feePayer: flags.feePayer })
}
