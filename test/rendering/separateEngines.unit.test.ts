import { expect, test } from 'vitest'
import type { RenderBounds, RenderEngine } from '../../src/rendering/renderEngine.ts'
import { RenderFailure } from '../../src/rendering/renderer.ts'
import type { Standing } from '../../src/rendering/renderRecord.ts'
import { openSeparateEngines } from '../../src/rendering/separateEngines.ts'

const never = new AbortController().signal
const boundsOf = (standing: Standing): RenderBounds => ({
  standing,
  timeoutMs: 1_000,
  signal: never,
  hurry: never,
  onStall: () => undefined,
  onBrowserLost: () => undefined,
})
const work = { kind: 'screenshot', order: { url: 'http://site.test/', width: 1, height: 1, fullPage: false } } as const

interface Opened {
  unavailable: string | undefined
  isClosed: boolean
  readonly standings: Standing[]
}

function engineOf(opened: Opened): RenderEngine {
  return {
    whyUnavailable: () => opened.unavailable,
    problem: () => undefined,
    render(_work, { standing }) {
      opened.standings.push(standing)
      return Promise.reject(new RenderFailure('broken', 'this engine renders nothing'))
    },
    close() {
      opened.isClosed = true
      return Promise.resolve()
    },
  }
}

async function openTwo() {
  const opened: Opened[] = []
  const engine = await openSeparateEngines(() => {
    const next: Opened = { unavailable: undefined, isClosed: false, standings: [] }
    opened.push(next)
    return Promise.resolve(engineOf(next))
  })
  const render = (standing: Standing) => engine.render(work, boundsOf(standing)).catch(() => undefined)
  return { opened, engine, render }
}

test('pages of customers have an engine of their own once it has started; until then they are among strangers', async () => {
  const { opened, engine, render } = await openTwo()
  await render('stranger')
  await render('suspect')
  expect(opened).toHaveLength(1)
  await render('customer')
  await render('customer')
  expect(opened.map(({ standings }) => standings)).toEqual([['stranger', 'suspect', 'customer'], ['customer']])
  for (const customers of opened.slice(1)) customers.unavailable = 'the browser is being started'
  await render('customer')
  expect(opened.map(({ standings }) => standings.at(-1))).toEqual(['customer', 'customer'])
  expect(opened.map(({ standings }) => standings.length)).toEqual([4, 1])
  await engine.close()
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true])
})

test('an engine that was being opened at the end is closed too', async () => {
  const { opened, engine, render } = await openTwo()
  void render('customer')
  await engine.close()
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true])
})
