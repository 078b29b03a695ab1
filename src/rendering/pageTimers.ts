import type { Page } from 'puppeteer'
import { randomToken } from '@tollbook/core/id'
import type { PageWorld } from './pageWorld.ts'

export type PageTimers = Awaited<ReturnType<typeof watchTimers>>

// Waiting for a longer timer would slow down every capture of the page.
const dueMsMax = 2_000
// Longer timers are reminders or refreshes, and are ignored.
const setMsMax = 5_000
// Timers that are set later than this after loading belong to clocks, carousels and polls, which never end.
const setAfterLoadMsMax = 1_000

/**
 * Watches the timers of a page, because a page looks quiet until a timer shows its content. Call this before the page
 * is loaded.
 */
export async function watchTimers(page: Page) {
  // Each JavaScript world has a separate `setTimeout`, so a script in the page's own world answers an event.
  const question = `tollbook-${randomToken()}`
  const limits = `${dueMsMax}, ${setMsMax}, ${setAfterLoadMsMax}`
  await page.evaluateOnNewDocument(`(${trackTimers})(${JSON.stringify(question)}, ${limits})`)
  return {
    /** True if a timer that may show content runs soon enough to wait for it. `areSet` also counts longer timers. */
    areDue: async (world: PageWorld) => (await world.run(askPage, `${question}-due`)) === true,
    areSet: async (world: PageWorld) => (await world.run(askPage, `${question}-set`)) === true,
  }
}

// Proxies look native to scripts that check the timer functions.
const trackTimers = `(question, dueMsMax, setMsMax, setAfterLoadMsMax) => {
  const { apply } = Reflect
  const isDue = Object.create(null)
  let [count, dueCount] = [0, 0]
  let loadedAt = Infinity
  const now = performance.now.bind(performance)
  const forget = (id) => {
    if (!(id in isDue)) return
    count--
    if (isDue[id]) dueCount--
    delete isDue[id]
  }
  addEventListener('load', () => { loadedAt = now() }, { once: true })
  addEventListener(question + '-set', (event) => { if (count > 0) event.preventDefault() })
  addEventListener(question + '-due', (event) => { if (dueCount > 0) event.preventDefault() })
  globalThis.setTimeout = new Proxy(setTimeout, {
    apply(target, self, values) {
      const [callback, delay] = values
      const counts = typeof callback === 'function' && delay > 0 && delay <= setMsMax && now() <= loadedAt + setAfterLoadMsMax
      if (!counts) return apply(target, self, values)
      values[0] = function (...some) {
        forget(id)
        return apply(callback, this, some)
      }
      const id = apply(target, self, values)
      isDue[id] = delay <= dueMsMax
      count++
      if (isDue[id]) dueCount++
      return id
    },
  })
  const clearing = { apply(target, self, values) { forget(values[0]); return apply(target, self, values) } }
  globalThis.clearTimeout = new Proxy(clearTimeout, clearing)
  globalThis.clearInterval = new Proxy(clearInterval, clearing)
}`

const askPage = `(question) => !dispatchEvent(new Event(question, { cancelable: true }))`
