import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { askQuote, present } from '../test/proofs/present.ts'
import { openEnvironment } from '../test/proofs/proofEnvironment.ts'
import { spawnServer } from '../test/proofs/spawnServer.ts'
import type { Bench } from './yardstick.ts'

const first = 1_000
const callers = 32
const millionBytes = 1e6

// The chain monitor closes paid routes for a moment when a busy machine starves it; that is not measured here.
const triesMax = 30
const pauseMs = 1_000

async function untilSold<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt >= triesMax) throw error
      await systemClock.sleep(pauseMs)
    }
  }
}

export const memory: Bench = {
  name: 'memory',
  about:
    'resident memory of the API process after many paid requests against after 1,000, over real HTTP and the real chain',
  async run({ requests, progress }) {
    await using environment = await openEnvironment()
    const { payer } = environment
    const server = await spawnServer({
      // An expensive token, because the payer's tokens would otherwise be spent after 5,000 requests.
      env: { ...environment.env, TOKEN_PRICE_USD: '100' },
      runsFile: `${environment.directory}/runs`,
      nodeOptions: ['--expose-gc'],
    })
    const startedAtMs = systemClock.monotonicMs()
    let begun = 0
    const buyUntil = async (count: number): Promise<void> => {
      while (begun < count) {
        const nth = begun++
        const request = { baseUrl: server.baseUrl, wallet: payer.address, symbol: 'BTC' }
        const proof = await payer.pay(await untilSold(() => askQuote(request)))
        const { status } = await present({ ...request, proof, idempotencyKey: `key ${nth}`.replace(' ', '-') })
        assert(status === 200, `paid request ${nth} is answered 200, not ${status}`)
        if (nth % 1_000 === 0) progress(`memory: ${nth} of ${requests} paid requests`)
      }
    }
    const buy = (count: number) => Promise.all(Array.from({ length: callers }, () => buyUntil(count)))
    try {
      await buy(first)
      const before = await server.residentBytes()
      await buy(requests)
      const after = await server.residentBytes()
      const seconds = Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)
      const what = `resident memory after ${requests} paid requests ÷ after ${first}`
      const detail = `${(after / millionBytes).toFixed(0)} MB and ${(before / millionBytes).toFixed(0)} MB, each after a garbage collection; ${seconds} s`
      return [{ what, value: after / before, goal: { atMost: 1.3 }, detail }]
    } finally {
      await server.stop()
    }
  },
}
