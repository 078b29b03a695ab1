import { Command } from 'commander'
import type { Address } from '@tollbook/core/address'
import { parseDecimal } from '@tollbook/core/money'
import { planText } from '../payout/planText.ts'
import type { Payout } from '../payout/openPayout.ts'
import type { CommandDeps } from './commandDeps.ts'
import { payoutWallets, runPayout } from './payoutAccess.ts'
import { accountsIn, addressIn, payoutKeysIn, readPlanFile } from './payoutArguments.ts'
import { readTextFile } from '@tollbook/client/command/fileOption'
import { repeatedOption } from './repeatedOption.ts'
import { writeOutput } from './writeOutput.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface PlanFlags {
  readonly snapshot: string
  readonly output: string
  readonly exclude: readonly string[]
  readonly minBalance: string
  readonly openAccounts: string
  readonly share: string
}

interface PayFlags {
  readonly keypair: string
  readonly feePayer?: string
}

/** The plan follows from a snapshot in a file, so that the audit can derive each line with its own code (decision 0045). */
export function holdersCommand(deps: CommandDeps): Command {
  const command = new Command('holders').description('divide a share among the holders of the token')
  command
    .command('snapshot')
    .description('read all token accounts of the mint in one finalized slot')
    .requiredOption('--output <file>', 'keep it: the audit derives each line of the plan from it')
    .action(({ output }: { readonly output: string }) =>
      runPayout(deps, ofToken, (payout) => snapshot(deps, payout, output)),
    )
  command
    .command('plan')
    .description('divide what is owed in proportion to the snapshot; moves nothing')
    .requiredOption('--snapshot <file>', 'file of `payout holders snapshot`')
    .requiredOption('--output <file>', 'file for the plan')
    .addOption(repeatedOption('--exclude <wallet>', 'do not pay this wallet; may be given more than once'))
    .option('--min-balance <amount>', 'tokens that a wallet must hold to be paid', '1')
    .option('--open-accounts <n>', 'pay up to this many wallets that need a new token account', '0')
    .option('--share <name>', 'share of the split that is divided', 'holders')
    .action((flags: PlanFlags) => runPayout(deps, ofToken, (payout) => plan(deps, payout, flags)))
  command
    .command('pay')
    .description('send and record all parts of the plan; run it again after an interruption')
    .argument('<plan>', 'file of `payout holders plan`')
    .requiredOption('--keypair <file>', "the payment wallet's, in the format of the Solana CLI")
    .option('--fee-payer <file>', 'keypair of another wallet that pays fees and rent in SOL')
    .action((file: string, flags: PayFlags) => runPayout(deps, ofToken, (payout) => pay(deps, payout, { file, flags })))
  command
    .command('end')
    .description('end a plan that cannot be paid to its end; what it has not paid stays owed')
    .argument('<plan>', 'file of `payout holders plan`')
    .action((file: string) =>
      runPayout(deps, ofToken, async (payout) => payout.holders.end(await readPlanFile('<plan>', file))),
    )
  return command
}

const ofToken = () => Promise.resolve(undefined)

async function snapshot(deps: CommandDeps, payout: Payout, output: string): Promise<void> {
  const { text, ...figures } = await payout.holders.snapshot()
  await writeOutput(output, text)
  deps.stdout.write(`${JSON.stringify({ file: output, ...figures })}\n`)
}

const excludedMax = 100

async function plan(deps: CommandDeps, payout: Payout, flags: PlanFlags): Promise<void> {
  const minimumBaseUnits = parseDecimal(flags.minBalance, payout.terms.decimals)
  if (minimumBaseUnits === undefined || minimumBaseUnits === 0n)
    throw new UsageProblem('--min-balance', `must be a plain decimal above 0 such as 0.5 (got ${flags.minBalance})`)
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(flags.share))
    throw new UsageProblem('--share', `must be the name of a share of the split (got ${flags.share})`)
  if (flags.exclude.length > excludedMax)
    throw new UsageProblem('--exclude', `takes up to ${excludedMax} wallets (got ${flags.exclude.length})`)
  const created = await payout.holders.plan({
    share: flags.share,
    snapshotText: await readTextFile('--snapshot', flags.snapshot),
    excluded: excludedWallets(flags),
    minimumBaseUnits,
    openAccountsMax: accountsIn('--open-accounts', flags.openAccounts),
  })
  if (created === undefined) {
    deps.stderr.write(`nothing is owed on the share ${flags.share}, or no holder has the minimum\n`)
    return
  }
  await writeOutput(flags.output, planText(created))
  const { id, parts, holders } = created
  const figures = { lines: parts.flat().length, amountBaseUnits: holders?.amountBaseUnits.toString() }
  deps.stdout.write(`${JSON.stringify({ id, parts: parts.length, ...figures, file: flags.output })}\n`)
}

/**
 * Adds the operator's wallets of other shares to the wallets of `--exclude`, because a share is divided among the other
 * holders only. The plan itself excludes the payment wallets.
 */
function excludedWallets({ exclude, share }: PlanFlags): readonly Address[] {
  const own = [...payoutWallets(undefined)].flatMap(([name, wallet]) => (name === share ? [] : [wallet]))
  return [...own, ...exclude.map((wallet) => addressIn('--exclude', wallet))]
}

async function pay(
  deps: CommandDeps,
  payout: Payout,
  { file, flags }: { readonly file: string; readonly flags: PayFlags },
): Promise<void> {
  const created = await readPlanFile('<plan>', file)
  if (created.holders === undefined) throw new UsageProblem('<plan>', `${file} is not a plan for holders`)
  const { feePayer, signers } = await payoutKeysIn(payout.terms.paymentWallet, flags)
  let shown = -1
  await payout.holders.pay({
    plan: created,
    feePayer: feePayer.address,
    signers,
    signal: deps.interrupted,
    onProgress: (recorded, parts) => {
      if (recorded !== shown) deps.stderr.write(`${recorded} of ${parts} parts are recorded\n`)
      shown = recorded
    },
  })
  deps.stdout.write(`${JSON.stringify({ id: created.id, parts: created.parts.length, state: 'ended' })}\n`)
}
