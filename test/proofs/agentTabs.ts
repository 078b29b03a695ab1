import '@tollbook/core/quietBindings'
import { parseDecimal } from '@tollbook/core/money'
import { priceBaseUnits, spendUnderKills } from './agent/spendUnderKills.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { concludeProof } from './verdict.ts'

/*
 * The same front ends and kills at a service that sells tabs. The wallet opens one tab and tops it up until the limit
 * of the day is used up. Deposits reach the limit to the base unit, none is paid twice, each order is debited and
 * served once, and what the deposits do not pay is on the tab.
 */

const { deposits, everyMs } = proofCommand('tabs', 'Killed wallets deposit once, and debit each order once.')
  .option('--deposits <n>', 'deposits that the limit of the day allows', wholeNumber, 10)
  .option('--every-ms <n>', 'pause between two kills', wholeNumber, 4_000)
  .parse()
  .opts<{ deposits: number; everyMs: number }>()

// A token of 6 decimals costs 0.001 dollars, and a deposit 1 dollar.
const [depositBaseUnits, decimals] = [1_000_000_000n, 6]
const limitBaseUnits = depositBaseUnits * BigInt(deposits)
const purchases = Number(limitBaseUnits / priceBaseUnits)
const ordersMax = purchases + 4

await using environment = await openEnvironment()
const env = {
  TAB_WALLET: environment.tabWallet.publicKey.toBase58(),
  TAB_MAX_USD: '1000',
  TABS_TOTAL_MAX_USD: '1000000',
}
const tabs = { depositUsd: 1 } as const
const spree = await spendUnderKills({ environment, env, ordersMax, everyMs, limitBaseUnits, tabs })
const { answered, refused, killed, left, unresolved, spent, spentBaseUnits, movedBaseUnits, runs, distinct } = spree
const { fulfilled, unbalanced, gaps } = await readProofLedger(environment.database.adminUrl)
const onTab = spree.tabs.map((tokens) => parseDecimal(tokens, decimals) ?? -1n)
const charged = priceBaseUnits * BigInt(answered)
const deposited = spent.filter(({ baseUnits }) => baseUnits > 0n)

concludeProof({
  holds:
    deposited.length === deposits &&
    deposited.every(({ baseUnits }) => baseUnits === depositBaseUnits) &&
    movedBaseUnits === limitBaseUnits &&
    onTab.length === 1 &&
    charged + (onTab[0] ?? -1n) === limitBaseUnits &&
    unresolved === 0 &&
    [answered, runs, distinct].every((count) => count === purchases) &&
    fulfilled === purchases + deposits &&
    [...refused.keys()].every((code) => code === 'LIMIT_REACHED') &&
    unbalanced === 0 &&
    gaps === 0,
  lines: [
    `${killed.wallet} wallets and ${killed['front end']} front ends killed; ${left} open payments finished at the end`,
    `${deposited.length} deposits, ${answered} orders answered, ${fulfilled} answers in the ledger`,
    `${spentBaseUnits} of ${limitBaseUnits} base units counted, ${movedBaseUnits} moved on chain, ${charged} charged, ${onTab.join(' + ')} on the tab`,
    `${unresolved} unresolved; ${runs} runs of the handler for ${distinct} orders`,
    `refused: ${JSON.stringify(Object.fromEntries(refused))}`,
  ],
})
