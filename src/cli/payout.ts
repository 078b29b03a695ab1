import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { Payout } from '../payout/openPayout.ts'
import { planText } from '../payout/planText.ts'
import { parseDecimal } from '@tollbook/core/money'
import type { CommandDeps } from './commandDeps.ts'
import { payoutWallets } from './payoutAccess.ts'
import { addressIn, readPlanFile, signatureIn } from './payoutArguments.ts'
import { holdersCommand } from './payoutHolders.ts'
import { runPayout } from './payoutRun.ts'
import { printUnsigned, sendParts } from './payoutSend.ts'
import { repeatedOption } from './repeatedOption.ts'
import { rethrowAsUsage, UsageProblem } from './usageProblem.ts'

const exitHelp = `
Exit codes:
  0  done; "plan" says so when nothing is owed
  2  wrong usage
  4  refused: the message says why, and nothing was sent or recorded
  7  the database or the Solana node does not answer, or the transaction is not final yet; run the command again
  130  interrupted; run the command again`

interface PlanFlags {
  readonly providerWallet?: string
  readonly holdersWallet?: string
  readonly treasuryWallet?: string
  readonly minTokens: string
  readonly except: readonly string[]
  readonly fromOldWallet?: boolean
  readonly output?: string
}

interface SendFlags {
  readonly keypair?: string
  readonly feePayer?: string
  readonly unsigned?: boolean
}

/** `tollbook payout`: what is owed leaves the payment wallet. No key is ever in the service; see docs/payouts.md. */
export function payoutCommand(deps: CommandDeps): Command {
  const command = new Command('payout')
    .description('pay out what the ledger owes: plan it, send it, record it')
    .addHelpText('after', exitHelp)
  command
    .command('plan')
    .description('list the wallets to pay, with amounts and debts; moves nothing')
    .option('--provider-wallet <address>', 'default: PAYOUT_PROVIDER_WALLET; without one the share waits')
    .option('--holders-wallet <address>', 'default: PAYOUT_HOLDERS_WALLET')
    .option('--treasury-wallet <address>', 'default: PAYOUT_TREASURY_WALLET')
    .option('--min-tokens <amount>', 'let smaller debts wait', '0')
    .addOption(repeatedOption('--except <account>', 'leave this debt as it is; may be given more than once'))
    .option('--from-old-wallet', 'pay out of PAYMENT_WALLET although the ledger has another one in force')
    .option('--output <file>', 'write the plan to a file instead')
    .action((flags: PlanFlags) => runPayout(deps, (payout) => plan(deps, payout, flags)))
  command
    .command('send')
    .description('sign and send the parts of a plan that are not paid yet; or print them for a multisig')
    .argument('<plan>', 'file of `payout plan`')
    .option('--keypair <file>', "the payment wallet's, in the format of the Solana CLI")
    .option('--fee-payer <file>', 'keypair of another wallet that pays the fees in SOL')
    .option('--unsigned', 'print base64 transactions for others to sign; a blockhash is good for a minute')
    .action((file: string, flags: SendFlags) => runPayout(deps, (payout) => send(deps, payout, { file, flags })))
  command
    .command('record')
    .description('record a payout that is final on chain; safe to repeat')
    .argument('<signature>')
    .requiredOption('--plan <file>', 'the plan that it pays a part of')
    .action((signature: string, { plan: file }: { readonly plan: string }) =>
      runPayout(deps, async (payout) => {
        const recorded = await payout.record(await readPlanFile('--plan', file), signatureIn('<signature>', signature))
        deps.stdout.write(`${JSON.stringify(recorded)}\n`)
      }),
    )
  command.addCommand(holdersCommand(deps))
  for (const each of [command, ...command.commands]) each.exitOverride(rethrowAsUsage)
  return command
}

async function plan(deps: CommandDeps, payout: Payout, flags: PlanFlags): Promise<void> {
  const leastBaseUnits = parseDecimal(flags.minTokens, payout.terms.decimals)
  if (leastBaseUnits === undefined) throw new UsageProblem('--min-tokens', 'must be a plain decimal such as 0.5')
  const wallets = payoutWallets(flags)
  const wallet = (name: keyof typeof wallets) => {
    const text = wallets[name]
    return text === undefined ? undefined : addressIn(`--${name}-wallet`, text)
  }
  const chosen = (['provider', 'holders', 'treasury'] as const).map((name) => [name, wallet(name)] as const)
  const destinations = new Map(chosen.flatMap(([name, address]) => (address === undefined ? [] : [[name, address]])))
  const { except, fromOldWallet = false } = flags
  const created = await payout.plan({ destinations, leastBaseUnits, except, fromOldWallet })
  if (created === undefined) {
    const waiting = chosen.flatMap(([name, address]) => (address === undefined ? [`--${name}-wallet`] : []))
    const advice = waiting.length === 0 ? '' : `; shares without a wallet wait: give ${waiting.join(', ')}`
    deps.stderr.write(`nothing is owed that could be paid${advice}\n`)
    return
  }
  if (flags.output === undefined) deps.stdout.write(planText(created))
  else {
    await writeFile(flags.output, planText(created))
    deps.stdout.write(`${JSON.stringify({ id: created.id, parts: created.parts.length, file: flags.output })}\n`)
  }
}

async function send(
  deps: CommandDeps,
  payout: Payout,
  { file, flags }: { readonly file: string; readonly flags: SendFlags },
): Promise<void> {
  const created = await readPlanFile('<plan>', file)
  if (created.holders !== undefined)
    throw new UsageProblem('<plan>', `${file} is a plan for holders: use \`payout holders pay\``)
  if ((flags.keypair === undefined) === (flags.unsigned !== true))
    throw new UsageProblem('--keypair', 'give either a keypair or --unsigned')
  const parts = await payout.openParts(created)
  if (parts.length === 0) deps.stderr.write('every part of the plan is on chain or in the ledger already\n')
  if (flags.keypair === undefined) await printUnsigned(deps, payout, { plan: created, parts })
  else await sendParts(deps, payout, { plan: created, parts, keypair: flags.keypair, feePayer: flags.feePayer })
}
