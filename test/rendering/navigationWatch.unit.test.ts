import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import type { Page } from 'puppeteer'
import type { EgressProxy, EgressTrouble } from '../../src/rendering/egressProxy.ts'
import { watchNavigation } from '../../src/rendering/navigationWatch.ts'
import { describePending, trackRequests } from '../../src/rendering/pageRequests.ts'

/* A page in memory: what its browser reports, and what its proxy knows of each address. */

const main = {}

interface Reported {
  readonly url: string
  readonly redirects?: number
  readonly frame?: object
  readonly isNavigation?: boolean
  readonly type?: string
}

function requestOf({ url, redirects = 0, frame = main, isNavigation = true, type = 'document' }: Reported) {
  return {
    url: () => url,
    frame: () => frame,
    isNavigationRequest: () => isNavigation,
    redirectChain: () => Array.from({ length: redirects }),
    resourceType: () => type,
  }
}

function openPage(troubles: Readonly<Record<string, EgressTrouble>> = {}) {
  const events = new EventEmitter()
  const state = { shown: 'https://a.example/', isFinished: false, isOverdrawn: false }
  const page = Object.assign(events, { mainFrame: () => main, url: () => state.shown }) as unknown as Page
  const proxy = {
    finish: () => (state.isFinished = true),
    isFinished: () => state.isFinished,
    isOverdrawn: () => state.isOverdrawn,
    troubleWith: (url: string) => troubles[url],
  } as unknown as EgressProxy
  const visit = (reported: Reported) => {
    const request = requestOf(reported)
    events.emit('request', request)
    return () => events.emit('response', { request: () => request, frame: () => reported.frame ?? main })
  }
  return { watch: watchNavigation(page, proxy), visit, state, events, page }
}

const a = 'https://a.example/'

test('a page that was answered is sound, and one that led to a forbidden address at any time is not', () => {
  const { watch, visit } = openPage({ 'https://inner/': 'forbidden' })
  visit({ url: a })()
  expect(() => watch.check()).not.toThrow()
  // A picture or a frame from a forbidden address is only missing.
  visit({ url: 'https://inner/', isNavigation: false })()
  visit({ url: 'https://inner/', frame: {} })()
  expect(() => watch.check()).not.toThrow()
  visit({ url: 'https://inner/', redirects: 1 })()
  visit({ url: a })()
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'forbidden', endsPayment: false }))
})

test('only the last address has to be reachable, and an unanswered page at the end of loading is a timeout', () => {
  const { watch, visit, state } = openPage({ 'https://gone/': 'unreachable' })
  visit({ url: 'https://gone/' })()
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'unreachable' }))
  const answer = visit({ url: a })
  expect(() => watch.check()).not.toThrow()
  state.isFinished = true
  // An answer from now on is a refusal of the proxy.
  answer()
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'timeout' }))
})

test('a page may lead elsewhere twenty times; then its loading ends, and so does its payment', () => {
  const { watch, visit, state } = openPage()
  for (let nth = 0; nth <= 20; nth++) {
    visit({ url: `${a}${nth}` })()
    visit({ url: `${a}${nth}/moved`, redirects: 1 })()
  }
  expect(() => watch.check()).not.toThrow()
  expect(state.isFinished).toBe(false)
  visit({ url: `${a}last` })()
  expect(state.isFinished).toBe(true)
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'unreachable', endsPayment: true }))
})

test('an error page of the browser and a page of too many bytes are not sold', () => {
  const { watch, visit, state } = openPage()
  visit({ url: a })()
  for (const shown of ['about:blank', 'http://a.example/']) {
    state.shown = shown
    expect(() => watch.check()).not.toThrow()
  }
  state.shown = 'chrome-error://chromewebdata/'
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'unreachable' }))
  state.isOverdrawn = true
  expect(() => watch.check()).toThrow(expect.objectContaining({ kind: 'too_large', endsPayment: true }))
})

test('requests are pending until they end or fail, except those that never end by design', () => {
  const { page, events } = openPage()
  const requests = trackRequests(page)
  const [image, script, font] = ['image', 'script', 'font'].map((type) => requestOf({ url: `${a}${type}`, type }))
  for (const request of [image, script, font]) events.emit('request', request)
  for (const type of ['eventsource', 'websocket', 'ping', 'preflight'])
    events.emit('request', requestOf({ url: a, type }))
  events.emit('request', requestOf({ url: 'data:text/plain,x', type: 'image' }))
  expect(requests.pending().map(({ type }) => type)).toEqual(['image', 'script', 'font'])
  events.emit('requestfinished', image)
  events.emit('requestfailed', script)
  expect(requests.pending()).toEqual([{ url: `${a}font`, type: 'font' }])
  expect(requests.startedCount()).toBe(3)
})

test('pending requests are described by their number and one example, which is cut', () => {
  const font = { url: `${a}${'x'.repeat(300)}`, type: 'font' }
  expect(describePending([])).toBe('no request was pending')
  expect(describePending([{ url: a, type: 'image' }])).toBe(`1 request was not answered, such as ${a} (image)`)
  expect(describePending([font, font])).toBe(`2 requests were not answered, such as ${font.url.slice(0, 200)} (font)`)
})
