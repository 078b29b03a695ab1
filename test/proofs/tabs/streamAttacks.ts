import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { listen } from '@tollbook/localnet/httpServer'
import { closeTab, debitProof, openTab, type OpenedTab } from '../../tabs/tabClient.ts'
import { type AttackBoard, chatHoldBaseUnits, depositBaseUnits } from './attackBoard.ts'

/* Metered chats that end in the middle. The model writes a word every 100 ms. */

const words = 40

/** Starts the model. A message that begins with `cut` is broken in the middle of its reply. */
export async function startSlowModel() {
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let word = 0; word < words && !response.destroyed; word++) {
        response.write(`data: {"model":"large","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`)
        await systemClock.sleep(100)
        if (word === 5 && body.includes('"cut')) response.destroy()
      }
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    })
  })
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const chat = (message: string) => ({ path: '/api/ai/chat', body: { message, model: 'large', stream: true } })

interface Begun {
  readonly tab: OpenedTab
  readonly message: string
  readonly number: number
  readonly server: number
}

// A busy machine takes longer than a handler may: the same number then asks again.
const triesMax = 20

/** Begins a metered stream and returns after its first bytes, with its rest. */
async function beginStream({ fleet }: AttackBoard, { tab, message, number, server }: Begun) {
  const order = chat(message)
  for (let tries = 1; ; tries++) {
    const stop = new AbortController()
    const response = await fetch(`${fleet.baseUrl(server)}${order.path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-wallet-address': tab.wallet,
        'x-payment-proof': debitProof(tab, order, { number }),
      },
      body: JSON.stringify(order.body),
      signal: stop.signal,
    })
    if (response.status >= 500 && tries < triesMax) continue
    assert(response.status === 200 && response.body !== null, `the stream began (${response.status})`)
    const reader = response.body.getReader()
    await reader.read()
    const rest = async (): Promise<void> => {
      while (!(await reader.read().catch(() => ({ done: true }))).done);
    }
    return { leave: () => stop.abort(), rest }
  }
}

/** Callers who leave, a provider that breaks, an instance that dies, and a tab that closes while it streams. */
export async function attackStreams(board: AttackBoard): Promise<void> {
  const { counter, note, http, expectThat, balanceOf, settled, fleet, tell } = board
  const tab = await openTab(counter())
  const chargeOf = async () => depositBaseUnits - (await balanceOf(tab))
  const left = await beginStream(board, { tab, message: 'slow', number: 1, server: 0 })
  left.leave()
  await settled()
  const charged = await chargeOf()
  tell(`a caller who leaves a stream: charged ${charged} of ${chatHoldBaseUnits}`)
  expectThat('a stream that its caller leaves is charged within its hold', charged > 0n && charged <= chatHoldBaseUnits)

  const broken = await beginStream(board, { tab, message: 'cut', number: 2, server: 1 })
  await broken.rest()
  await settled()
  expectThat('a stream that its provider breaks is not charged', (await chargeOf()) === charged)

  const killed = await beginStream(board, { tab, message: 'slow', number: 3, server: 2 })
  await fleet.killServer(2)
  await killed.rest()
  await settled()
  tell(`an instance killed in a stream: charged ${(await chargeOf()) - charged}`)
  expectThat('the hold of a killed stream returns', (await chargeOf()) === charged)

  const open = await beginStream(board, { tab, message: 'slow', number: 4, server: 3 })
  const response = await closeTab(fleet.baseUrl(0), tab)
  expectThat('a tab closes while it streams', response.status === 200)
  const order = chat('closed')
  note('a debit of a closed tab that still streams', [
    await http({ ...order, proof: debitProof(tab, order, { number: 5 }) }),
  ])
  await open.rest()
  await settled()
  const second = await closeTab(fleet.baseUrl(1), tab)
  expectThat('closing again is harmless', second.status === 200)
}
