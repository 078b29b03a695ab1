import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { askForQuote } from '../../support/ask.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { closeTab, debitProof, newSessionKey, openTab, type OpenedTab, signedByWallet } from '../../tabs/tabClient.ts'
import { type AttackBoard, type Came, cryptoOrder, priceBaseUnits } from './attackBoard.ts'

const challenged = z.object({ challenge: z.string(), expiresAt: z.string() })
const cameOf = ({ status }: Response): Came => ({ status, said: '', body: {} })

interface Load {
  readonly tab: OpenedTab
  readonly from: number
  readonly change: {
    /** Infinity before the change. */
    atMs: number
    isOver: boolean
  }
}

/** Debits without pause, and returns the answers to the debits that began after the change. */
async function debitOn({ http }: AttackBoard, { tab, from, change }: Load): Promise<readonly Came[]> {
  const late: Came[] = []
  for (let next = from; !change.isOver; next++) {
    const order = cryptoOrder(`${tab.tab}L${next}`)
    const began = systemClock.monotonicMs()
    const came = await http({ ...order, proof: debitProof(tab, order, { number: next, maxBaseUnits: priceBaseUnits }) })
    if (began > change.atMs) late.push(came)
  }
  return late
}

interface Change {
  readonly name: string
  readonly tab: OpenedTab
  readonly make: () => Promise<Response>
}

/** Changes a tab under load, and notes the debits that begin after the answer. */
async function underLoad(board: AttackBoard, { name, tab, make }: Change): Promise<void> {
  const change = { atMs: Infinity, isOver: false }
  const lanes = [1, 2, 3, 4].map((lane) => debitOn(board, { tab, from: lane * 1_000, change }))
  const before = await board.balanceOf(tab)
  await awaitThat('the tab is spent', async () => (await board.balanceOf(tab)) < before)
  const response = await make()
  change.atMs = systemClock.monotonicMs()
  board.expectThat(`${name}: it took place (${response.status})`, response.status === 200)
  await systemClock.sleep(3_000)
  change.isOver = true
  const late = (await Promise.all(lanes)).flat()
  board.expectThat(`${name}: debits came afterwards`, late.length > 0)
  board.note(name, late)
}

/** Strangers who close or take a tab, and debits after its end or with its old key. */
export async function attackLifecycle(board: AttackBoard): Promise<void> {
  const { counter, note, http, expectThat, fleet } = board
  const { payer, demoWallet } = fleet.environment
  const stranger = newSessionKey()
  const [tab, other] = [await openTab(counter(), { depositUsd: 5 }), await openTab(counter())]
  note("a stranger closes by the tab's id", [
    cameOf(await fetch(`${fleet.baseUrl(0)}/api/tabs/${tab.tab}`, { method: 'DELETE' })),
    cameOf(await closeTab(fleet.baseUrl(1), { ...tab, key: stranger })),
    cameOf(await closeTab(fleet.baseUrl(2), { ...tab, key: other.key })),
  ])
  const url = `${fleet.baseUrl(0)}/api/tabs/${tab.tab}`
  const post = (body: object, authorization?: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify(body),
    })
  const next = newSessionKey()
  const body = { sessionKey: next.address }
  const { challenge, expiresAt } = challenged.parse(await (await post(body)).json())
  const authorization = signedByWallet(demoWallet)(challenge).replace('*', expiresAt)
  note('a signature for other keys', [cameOf(await post({ sessionKey: stranger.address }, authorization))])
  await underLoad(board, {
    name: 'the replaced key under load, afterwards',
    tab: tab,
    make: () => post(body, authorization),
  })
  note('the signature for the new key again', [cameOf(await post(body, authorization))])
  const replaced = { ...tab, key: next }
  const order = cryptoOrder('NEWKEY')
  expectThat(
    'the new key debits',
    (await http({ ...order, proof: debitProof(replaced, order, { number: 1 }) })).status === 200,
  )
  const closing = await openTab(counter(), { depositUsd: 5 })
  await underLoad(board, {
    name: 'a closed tab under load, afterwards',
    tab: closing,
    make: () => closeTab(fleet.baseUrl(3), closing),
  })
  const topUp = { path: '/api/tabs', body: { depositUsd: 1, tab: closing.tab } }
  const proof = await payer.pay(await askForQuote(counter(), topUp), 'boundSignature')
  note('a top-up of a closed tab', [await http({ ...topUp, proof })])
}
