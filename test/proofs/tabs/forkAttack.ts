import pg from 'pg'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { ask, askForQuote } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { controlChain } from '../nodes/chainControl.ts'
import { closeTab, debitProof, openTab } from '../../tabs/tabClient.ts'
import { type AttackBoard, cryptoOrder, depositBaseUnits, priceBaseUnits } from './attackBoard.ts'

// As the environment has it.
const healthy = { newestState: true }
const shown = z.object({ data: z.object({ state: z.string(), balanceBaseUnits: z.string(), isFinal: z.boolean() }) })
const closed = z.object({ data: z.object({ restBaseUnits: z.string() }) })

/** A fork drops a deposit after it has bought answers, and while it is spent at all instances. */
export async function attackFork(board: AttackBoard): Promise<void> {
  const { counter, http, many, note, expectThat, atOnce, fleet } = board
  const { chain, database, payer } = fleet.environment
  const stateOf = async (tab: string) =>
    shown.parse(await (await fetch(`${board.baseUrl()}/api/tabs/${tab}`)).json()).data
  const { setNode } = controlChain(chain.rpcUrl)
  await board.settled()
  const earlier = await openTab(counter())
  await awaitThat('the deposit of before the fork is final', async () => (await stateOf(earlier.tab)).isFinal)

  await setNode(0, { ...healthy, fork: true })
  const tab = await openTab(counter())
  const buy = (symbol: string, number: number) => {
    const order = cryptoOrder(symbol)
    return http({ ...order, proof: debitProof(tab, order, { number, maxBaseUnits: priceBaseUnits }) })
  }
  const bought = [await buy('FORK1', 1), await buy('FORK2', 2)]
  const spending = many((index) => buy(`FORKED${index}`, 10 + index))
  await setNode(0, healthy)
  const raced = await spending
  const canBuy = Number(depositBaseUnits / priceBaseUnits)
  note('debits while the chain drops their deposit', [...bought, ...raced], canBuy)
  const sold = [...bought, ...raced].filter(({ status }) => status === 200).length
  expectThat(
    'answers were bought before the fork',
    bought.every(({ status }) => status === 200),
  )
  await awaitThat('the deposit is reversed', async () => (await stateOf(tab.tab)).state === 'closed')
  await board.settled()

  note(
    'debits of a tab whose deposit the chain dropped',
    await many((index) => buy(`LATE${index}`, 10 + atOnce + index)),
  )
  const topUp = { path: '/api/tabs', body: { depositUsd: 1, tab: tab.tab } }
  const at = counter()
  // While the wallet held less than the tabs, no deposit was sold.
  await awaitThat('deposits are sold again', async () => (await ask(at, topUp)).status === 402)
  const proof = await payer.pay(await askForQuote(at, topUp), 'boundSignature')
  note('a top-up of that tab', [await http({ ...topUp, proof })])
  const response = await closeTab(board.baseUrl(), tab)
  const { restBaseUnits } = closed.parse(await response.json()).data
  expectThat('no rest of a dropped deposit is owed', restBaseUnits === '0')
  await awaitThat('nothing is on the tab', async () => (await stateOf(tab.tab)).balanceBaseUnits === '0')
  const { reversals, lost, answers } = await readReversal(database.adminUrl, tab.tab)
  expectThat('the deposit is reversed once', reversals === 1)
  expectThat(`the loss ${lost} is the price of what it bought`, lost === BigInt(sold) * priceBaseUnits)
  expectThat(`each of the ${sold} answers is named by its stream (${answers})`, answers === sold)
  const { state, balanceBaseUnits } = await stateOf(earlier.tab)
  expectThat('the deposit of before the fork stands', state === 'open' && BigInt(balanceBaseUnits) === depositBaseUnits)
}

/** The reversals of a tab's deposit, its loss in base units, and the answers that name the tab. */
async function readReversal(adminUrl: string, tab: string) {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  const { rows } = await client.query<{ reversals: number; lost: string; answers: number }>(
    `with said as (
      select e.kind, s.state, convert_from(e.body, 'UTF8')::jsonb as body
      from ledger.events e join ledger.streams s on s.stream = e.stream
      where e.kind in ('DepositReversed', 'TabTakenBack', 'TabDebited')
    )
    select (count(*) filter (where kind = 'DepositReversed'))::int as reversals,
      coalesce(sum(case kind when 'DepositReversed' then (body ->> 'spentBaseUnits')::numeric
        when 'TabTakenBack' then -(body ->> 'takenBackBaseUnits')::numeric end), 0)::text as lost,
      (count(*) filter (where kind = 'TabDebited' and state = 'captured'))::int as answers
    from said where body ->> 'tab' = $1`,
    [tab],
  )
  await client.end()
  const { reversals, lost, answers } = assertPresent(rows[0], 'a sum has a row')
  return { reversals, lost: BigInt(lost), answers }
}
