import '@tollbook/core/quietBindings'
import { priceBaseUnits, spendUnderKills } from './agent/spendUnderKills.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { readProofLedger } from './proofLedger.ts'
import { concludeProof } from './verdict.ts'

/*
 * Three windows of an MCP host and a proxy share one wallet folder. They buy until the limit of the day is used up,
 * while the wallet process and the front ends are killed with kill -9. The limit must be exact to the base unit, each
 * order is paid and served once, and no payment stays unresolved.
 */

const { purchases, everyMs } = proofCommand(
  'wallet',
  'Killed wallets and front ends pay once and stay within the limit.',
)
  .option('--purchases <n>', 'purchases that the limit of the day allows', wholeNumber, 1_000)
  .option('--every-ms <n>', 'pause between two kills', wholeNumber, 4_000)
  .parse()
  .opts<{ purchases: number; everyMs: number }>()

await using environment = await openEnvironment()
const limitBaseUnits = priceBaseUnits * BigInt(purchases)
const ordersMax = purchases + 4
const spree = await spendUnderKills({ environment, env: {}, ordersMax, everyMs, limitBaseUnits, tabs: false })
const { answered, refused, killed, left, unresolved, spent, spentBaseUnits, movedBaseUnits, runs, distinct } = spree
const { fulfilled, payments, unbalanced, gaps } = await readProofLedger(environment.database.adminUrl)

concludeProof({
  holds:
    spent.length === purchases &&
    spentBaseUnits === limitBaseUnits &&
    movedBaseUnits === limitBaseUnits &&
    unresolved === 0 &&
    [answered, runs, distinct, fulfilled, payments].every((count) => count === purchases) &&
    [...refused.keys()].every((code) => code === 'LIMIT_REACHED') &&
    refused.get('LIMIT_REACHED') === ordersMax - purchases &&
    unbalanced === 0 &&
    gaps === 0,
  lines: [
    `${killed.wallet} wallets and ${killed['front end']} front ends killed; ${left} open payments finished at the end`,
    `${answered} orders answered, ${spent.length} payments signed, ${payments} in the ledger, ${fulfilled} answers`,
    `${spentBaseUnits} of ${limitBaseUnits} base units counted, ${movedBaseUnits} moved on chain`,
    `${unresolved} unresolved; ${runs} runs of the handler for ${distinct} orders`,
    `refused: ${JSON.stringify(Object.fromEntries(refused))}`,
  ],
})
