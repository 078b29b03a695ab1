import { describe, expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { createPaymentBudgets } from '../../src/rendering/paymentBudgets.ts'
import { createRenderQueue, type RenderTurn } from '../../src/rendering/renderQueue.ts'

const patient = new AbortController().signal

interface TestQueue {
  enter(payer: string, more?: { readonly site?: string; readonly signal?: AbortSignal }): Promise<Entry>
  waitingCount(): number
  aheadCount(payer?: string): number
  pass(ms: number): void
}

type Entry = RenderTurn | 'full' | 'aborted'

function open(limits: Partial<{ placesMax: number; waitingMax: number; stalledMax: number }> = {}): TestQueue {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs }
  const queue = createRenderQueue({ clock, placesMax: 2, waitingMax: 3, stalledMax: 2, ...limits })
  return {
    enter: (payer, { site = payer, signal = patient } = {}) => queue.enter({ payer, site, signal }),
    waitingCount: queue.waitingCount,
    aheadCount: queue.aheadCount,
    pass: (ms) => (nowMs += ms),
  }
}

async function turnOf(entry: Promise<Entry>): Promise<RenderTurn> {
  const turn = await entry
  assert(typeof turn === 'object', 'the job has a turn')
  return turn
}

describe('a queue for two jobs at once', () => {
  test('admits two at once, and equal ones in the order in which they came', async () => {
    const queue = open()
    const running = [await turnOf(queue.enter('a')), await turnOf(queue.enter('b'))]
    const waiting = ['c', 'd', 'e'].map((payer) => queue.enter(payer))
    expect(queue.waitingCount()).toBe(3)
    for (const entry of waiting) {
      running.shift()?.leave('rendered')
      running.push(await turnOf(entry))
    }
    expect(queue.waitingCount()).toBe(0)
  })

  test('refuses the last job when the queue is full, and admits again when a place is free', async () => {
    const queue = open({ waitingMax: 0 })
    const first = await turnOf(queue.enter('a'))
    await turnOf(queue.enter('b'))
    expect(await queue.enter('c')).toBe('full')
    first.leave('rendered')
    await turnOf(queue.enter('c'))
  })

  test('forgets a job that gives up while it waits, and gives its place to the next', async () => {
    const queue = open({ placesMax: 1 })
    const turn = await turnOf(queue.enter('a'))
    const impatient = new AbortController()
    const first = queue.enter('b', { signal: impatient.signal })
    const second = queue.enter('c')
    impatient.abort()
    expect(await first).toBe('aborted')
    expect(queue.waitingCount()).toBe(1)
    turn.leave('rendered')
    await turnOf(second)
  })

  test('does not admit a job that has given up before it came', async () => {
    const queue = open()
    expect(await queue.enter('a', { signal: AbortSignal.abort() })).toBe('aborted')
    await turnOf(queue.enter('b'))
    await turnOf(queue.enter('c'))
  })

  test('never runs more than two of a hundred, whatever their order of leaving', async () => {
    const queue = open({ waitingMax: 100 })
    let [running, most] = [0, 0]
    const run = async (job: number) => {
      const turn = await turnOf(queue.enter(`payer ${job % 7}`))
      most = Math.max(most, ++running)
      for (let pause = 0; pause < job % 5; pause++) await Promise.resolve()
      running--
      turn.leave('rendered')
    }
    await Promise.all(Array.from({ length: 100 }, (_, job) => run(job)))
    expect([running, most, queue.waitingCount()]).toEqual([0, 2, 0])
  })

  test('a job that leaves twice is a bug', async () => {
    const turn = await turnOf(open().enter('a'))
    turn.leave('rendered')
    expect(() => turn.leave('rendered')).toThrow('a job that leaves had a turn')
  })
})

describe('turns are fair', () => {
  test('a payer with many jobs waits behind one with none, also when the queue is full', async () => {
    const queue = open()
    const [first] = await Promise.all([turnOf(queue.enter('greedy')), turnOf(queue.enter('greedy'))])
    const greedy = [queue.enter('greedy'), queue.enter('greedy'), queue.enter('greedy')]
    const modest = queue.enter('modest')
    expect(await greedy[2]).toBe('full')
    first.leave('rendered')
    await turnOf(modest)
    expect(queue.waitingCount()).toBe(2)
    // Jobs of a greedy payer keep no newcomer from a quote.
    expect(queue.aheadCount()).toBe(0)
  })

  test('a site that stalls waits behind others, whichever wallet pays', async () => {
    const queue = open({ placesMax: 1 })
    const stalled = await turnOf(queue.enter('one', { site: 'hung.test' }))
    stalled.stall()
    queue.pass(10_000)
    stalled.leave('rendered')
    const turn = await turnOf(queue.enter('two'))
    const hung = queue.enter('three', { site: 'hung.test' })
    const honest = queue.enter('four')
    turn.leave('rendered')
    await turnOf(honest)
    // Its stalled seconds are forgotten after five minutes.
    queue.pass(5 * 60 * 1000 + 1)
    expect(queue.waitingCount()).toBe(1)
    ;(await turnOf(honest)).leave('rendered')
    await turnOf(hung)
  })

  test('a payer whose page failed waits behind others, though it never stalled', async () => {
    const queue = open({ placesMax: 1 })
    const crashed = await turnOf(queue.enter('crashing'))
    queue.pass(300)
    crashed.leave('failed')
    const turn = await turnOf(queue.enter('another'))
    const again = queue.enter('crashing')
    const honest = queue.enter('honest')
    turn.leave('rendered')
    await turnOf(honest)
    expect(queue.waitingCount()).toBe(1)
    ;(await turnOf(honest)).leave('rendered')
    await turnOf(again)
  })

  test('a payer who has bought a page comes before a crowd of new wallets, in the queue and for a quote', async () => {
    const queue = open({ placesMax: 1, waitingMax: 30 })
    ;(await turnOf(queue.enter('customer'))).leave('rendered')
    // Even when a page of this payer was not ready in time, as under the load of the crowd.
    const late = await turnOf(queue.enter('customer'))
    queue.pass(20_000)
    late.leave('failed')
    const turn = await turnOf(queue.enter('stranger'))
    const crowd = Array.from({ length: 20 }, (_, nth) => queue.enter(`stranger ${nth}`))
    expect([queue.aheadCount(), queue.aheadCount('unknown'), queue.aheadCount('customer')]).toEqual([20, 20, 0])
    const known = queue.enter('customer')
    turn.leave('rendered')
    ;(await turnOf(known)).leave('rendered')
    await turnOf(crowd[0] ?? known)
  })
})

describe('a page that gets nothing', () => {
  test('passes its place on, and continues without one', async () => {
    const queue = open({ placesMax: 1 })
    const hung = await turnOf(queue.enter('a'))
    const next = queue.enter('b')
    hung.stall()
    await turnOf(next)
    expect(hung.hurry.aborted).toBe(false)
    hung.leave('rendered')
  })

  test('is hurried when too many do the same; the one of the heaviest payer goes first', async () => {
    const queue = open({ placesMax: 1, stalledMax: 2 })
    const turns: RenderTurn[] = []
    for (const payer of ['honest', 'greedy', 'greedy']) {
      const turn = await turnOf(queue.enter(payer))
      turn.stall()
      turns.push(turn)
    }
    expect(turns.map(({ hurry }) => hurry.aborted)).toEqual([false, true, false])
  })
})

describe('the browser of a page', () => {
  test('is that of the customers only after a page that kept its place or soon gave it up', async () => {
    const queue = open({ placesMax: 1 })
    const first = await turnOf(queue.enter('quick'))
    expect(first.standing).toBe('stranger')
    first.leave('rendered')
    const hung = await turnOf(queue.enter('hung'))
    hung.stall()
    queue.pass(6_000)
    hung.leave('rendered')
    const standings = ['quick', 'hung'].map(async (payer) => {
      const turn = await turnOf(queue.enter(payer))
      turn.leave('interrupted')
      return turn.standing
    })
    expect(await Promise.all(standings)).toEqual(['customer', 'stranger'])
  })

  test('is a separate one after two browsers of its payer or of its site have ended', async () => {
    const queue = open({ placesMax: 1 })
    queue.pass(1)
    const standingAfterLoss = async (payer: string, site = payer) => {
      const turn = await turnOf(queue.enter(payer, { site }))
      turn.loseBrowser()
      turn.leave('interrupted')
      return turn.standing
    }
    expect(await standingAfterLoss('one', 'site.test')).toBe('stranger')
    expect(await standingAfterLoss('two', 'site.test')).toBe('stranger')
    expect(await standingAfterLoss('three', 'site.test')).toBe('suspect')
    // A customer is not suspected because of a site that others have used too.
    ;(await turnOf(queue.enter('customer'))).leave('rendered')
    expect(await standingAfterLoss('customer', 'site.test')).toBe('customer')
    expect(await standingAfterLoss('customer', 'site.test')).toBe('customer')
    expect(await standingAfterLoss('customer', 'site.test')).toBe('suspect')
    queue.pass(60 * 60 * 1000 + 1)
    expect(await standingAfterLoss('one', 'site.test')).toBe('stranger')
  })
})

test('the browser time of a payment is charged over all its attempts', () => {
  const budgets = createPaymentBudgets(30_000)
  expect(budgets.leftMs('payment')).toBe(30_000)
  budgets.charge('payment', 12_000)
  expect([budgets.isSpent('payment'), budgets.leftMs('payment')]).toEqual([false, 18_000])
  budgets.charge('payment', 18_000)
  expect([budgets.isSpent('payment'), budgets.leftMs('payment')]).toEqual([true, 1_000])
  expect(budgets.leftMs('another')).toBe(30_000)
})
