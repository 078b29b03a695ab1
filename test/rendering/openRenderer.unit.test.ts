import { describe, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { openRenderer, type RenderAttempt } from '../../src/rendering/openRenderer.ts'
import type { RenderBounds, RenderWork } from '../../src/rendering/renderEngine.ts'
import { RenderFailure, type Rendered } from '../../src/rendering/renderer.ts'

/* Turns, budgets and reports of jobs, with an engine whose pages the test ends. */

const rendered: Rendered = {
  bytes: Buffer.from('picture'),
  httpStatus: 200,
  finalUrl: undefined,
  missing: [],
  missingGlyphs: 0,
  clipped: false,
  refusedRequests: 0,
}
const margin = { top: '0', right: '0', bottom: '0', left: '0' }

interface Page {
  readonly name: string
  readonly bounds: RenderBounds
  readonly end: (failure?: RenderFailure) => Promise<void>
}

interface Job {
  readonly payer?: string
  readonly payment?: string
  readonly signal?: AbortSignal
}

async function open({ concurrency = 2, jobTimeoutMs = 20_000, paymentTimeMs = 30_000 } = {}) {
  let nowMs = 0
  const pages: Page[] = []
  const attempts: RenderAttempt[] = []
  const state = { unavailable: undefined as string | undefined, engines: 0, isClosed: false }
  const nameOf = (work: RenderWork) => {
    const page = work.kind === 'pdf' ? work.order.page : work.order
    return 'url' in page ? page.url : 'content of the caller'
  }
  const renderer = await openRenderer({
    clock: { ...systemClock, monotonicMs: () => nowMs },
    allowHosts: ['intranet'],
    concurrency,
    jobTimeoutMs,
    paymentTimeMs,
    onAttempt: (attempt) => attempts.push(attempt),
    async openEngine() {
      state.engines++
      return {
        whyUnavailable: () => state.unavailable,
        problem: () => undefined,
        render(work, bounds) {
          const { promise, resolve, reject } = Promise.withResolvers<Rendered>()
          const end = async (failure?: RenderFailure) => {
            if (failure === undefined) resolve(rendered)
            else reject(failure)
            await turns()
          }
          pages.push({ name: nameOf(work), bounds, end })
          return promise
        },
        async close() {
          state.isClosed = true
        },
      }
    },
  })
  const buyerOf = ({ payer = 'payer', payment = 'payment', signal = new AbortController().signal }: Job) => {
    return { payer, payment, signal }
  }
  return {
    renderer,
    state,
    pages,
    attempts,
    pass: (ms: number) => (nowMs += ms),
    start(url: string, job: Job = {}) {
      const ended = renderer
        .screenshot({ url, width: 1, height: 1, fullPage: false }, buyerOf(job))
        .catch((error: unknown) => error)
      return { ended, begun: turns() }
    },
    print: (html: string, job: Job = {}) =>
      renderer.pdf({ page: { html }, format: 'A4', margin }, buyerOf(job)).catch((error: unknown) => error),
  }
}

/** Lets the promises of a job run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('a waiting page', () => {
  test.each([
    ['https://b.evil.test/2', 'https://a.evil.test/1'],
    ['http://evil.test:8080/', 'https://deep.sub.evil.test/'],
    ['http://10.0.0.7/a', 'http://10.0.0.7:81/b'],
    ['http://[::1]/a', 'http://[::1]:81/b'],
  ])('%s waits behind others while one of its site runs: %s', async (waiting, running) => {
    const { start, pages } = await open()
    await start(running, { payer: 'one' }).begun
    await start('https://busy.test/', { payer: 'two' }).begun
    await start(waiting, { payer: 'three' }).begun
    await start('https://other.test/', { payer: 'four' }).begun
    await pages[1]?.end()
    expect(pages.map(({ name }) => name)).toEqual([running, 'https://busy.test/', 'https://other.test/'])
  })

  test('at another address than the one that runs is of another site', async () => {
    const { start, pages } = await open()
    await start('http://10.0.0.7/', { payer: 'one' }).begun
    await start('https://busy.test/', { payer: 'two' }).begun
    await start('http://10.1.0.7/', { payer: 'three' }).begun
    await start('https://other.test/', { payer: 'four' }).begun
    await pages[1]?.end()
    expect(pages.at(-1)?.name).toBe('http://10.1.0.7/')
  })

  test('of content that the caller sent counts for its payer, and not for the content of others', async () => {
    const { start, pages, print } = await open()
    void print('<p>one', { payer: 'one' })
    await start('https://busy.test/', { payer: 'two' }).begun
    void print('<p>two', { payer: 'three' })
    await turns()
    await start('https://other.test/', { payer: 'four' }).begun
    await pages[1]?.end()
    expect(pages.at(-1)?.name).toBe('content of the caller')
  })
})

describe('the browser time of a payment', () => {
  test('is what is left of it, and at most that of one job', async () => {
    const { start, pages, pass, attempts } = await open({ jobTimeoutMs: 20_000, paymentTimeMs: 30_000 })
    const first = start('https://a.test/')
    await first.begun
    expect(pages[0]?.bounds.timeoutMs).toBe(20_000)
    pass(12_000)
    await pages[0]?.end(new RenderFailure('timeout', 'late'))
    expect(await first.ended).toMatchObject({ kind: 'timeout', endsPayment: false })
    const second = start('https://a.test/')
    await second.begun
    expect(pages[1]?.bounds.timeoutMs).toBe(18_000)
    pass(18_000)
    await pages[1]?.end(new RenderFailure('timeout', 'late again'))
    // It is used up, so the ledger need not permit another attempt.
    expect(await second.ended).toMatchObject({ kind: 'timeout', message: 'late again', endsPayment: true })
    expect(attempts).toMatchObject([
      { outcome: 'interrupted', paymentTimeMs: 12_000, failure: expect.stringContaining('late') },
      { outcome: 'failed', paymentTimeMs: 30_000 },
    ])
  })

  test('of a page that ends its payment by itself is the whole of its failure', async () => {
    const { start, pages, attempts } = await open()
    const job = start('https://a.test/', { payer: 'p', payment: 'x' })
    await job.begun
    await pages[0]?.end(new RenderFailure('broken', 'it crashed', { endsPayment: true }))
    expect(await job.ended).toMatchObject({ endsPayment: true })
    expect(attempts).toMatchObject([{ payer: 'p', payment: 'x', outcome: 'failed' }])
  })
})

test('a page that was rendered makes its payer a customer, whose next page has another browser', async () => {
  const { start, pages, attempts } = await open()
  await start('https://a.test/').begun
  await pages[0]?.end()
  await start('https://a.test/').begun
  expect(pages.map(({ bounds }) => bounds.standing)).toEqual(['stranger', 'customer'])
  expect(attempts).toEqual([{ payer: 'payer', payment: 'payment', outcome: 'rendered', paymentTimeMs: 0 }])
})

test('a stalled page gives its place to the next, and a job that leaves the queue is a timeout', async () => {
  const { start, pages } = await open({ concurrency: 1 })
  await start('https://a.test/', { payer: 'one' }).begun
  const patience = new AbortController()
  const second = start('https://b.test/', { payer: 'two' })
  const third = start('https://c.test/', { payer: 'three', signal: patience.signal })
  await Promise.all([second.begun, third.begun])
  expect(pages).toHaveLength(1)
  pages[0]?.bounds.onStall()
  await turns()
  expect(pages.map(({ name }) => name)).toEqual(['https://a.test/', 'https://b.test/'])
  patience.abort()
  expect(await third.ended).toMatchObject({ kind: 'timeout', message: 'the page waited too long for its turn' })
})

test('of five stalled pages for one place, one must end its loading', async () => {
  const { start, pages } = await open({ concurrency: 1 })
  for (let nth = 0; nth < 5; nth++) {
    await start(`https://a${nth}.test/`, { payer: `p${nth}` }).begun
    expect(pages.filter(({ bounds }) => bounds.hurry.aborted)).toEqual([])
    pages[nth]?.bounds.onStall()
  }
  expect(pages.map(({ bounds }) => bounds.hurry.aborted)).toEqual([true, false, false, false, false])
  expect(pages.some(({ bounds }) => bounds.signal.aborted)).toBe(false)
})

test('quotes are refused while ten pages for each place wait, and orders that are paid only beyond fifty', async () => {
  const { start, renderer, state } = await open({ concurrency: 1 })
  await start('https://a.test/', { payer: 'running' }).begun
  for (let nth = 0; nth < 9; nth++) await start(`https://a${nth}.test/`, { payer: `p${nth}` }).begun
  expect(renderer.whyNoQuote('new')).toBeUndefined()
  for (let nth = 9; nth < 50; nth++) await start(`https://a${nth}.test/`, { payer: `p${nth}` }).begun
  expect([renderer.whyNoQuote('new'), renderer.whyUnavailable()]).toEqual([
    'too many pages are being rendered',
    undefined,
  ])
  expect(await start('https://last.test/', { payer: 'last' }).ended).toMatchObject({ kind: 'broken' })
  state.unavailable = 'no browser'
  expect(renderer.whyUnavailable()).toBe('no browser')
})

test('a server that renders nothing opens no engine, and says so', async () => {
  const { renderer, state, start } = await open({ concurrency: 0 })
  expect([renderer.whyNoQuote(), renderer.whyUnavailable(), renderer.problem()]).toEqual([
    'this server renders no pages',
    'this server renders no pages',
    undefined,
  ])
  expect(await start('https://a.test/').ended).toMatchObject({ kind: 'broken' })
  await renderer.close()
  expect([state.engines, renderer.allowHosts]).toEqual([0, ['intranet']])
  const other = await open()
  await other.renderer.close()
  expect(other.state.isClosed).toBe(true)
})
