import type { Page } from 'puppeteer'
import { randomToken } from '@tollbook/core/id'
import type { PageWorld } from './pageWorld.ts'

/** Timers of a page's scripts: a page that shows its content after a pause is quiet until then. */
export interface PageTimers {
  /** Whether a timer is about to run that may bring content, soon enough to be waited for. */
  areDue(world: PageWorld): Promise<boolean>
  /** Whether such a timer is set at all. */
  areSet(world: PageWorld): Promise<boolean>
}

// Waiting for a longer pause would slow down every capture of such a page.
const dueMsMax = 2_000
// A longer pause belongs to a reminder or a refresh.
const setMsMax = 5_000
// Timers that are set later belong to clocks, carousels and polls, which never end.
const setAfterLoadMsMax = 1_000

/** To be called before the page is loaded. */
export async function watchTimers(page: Page): Promise<PageTimers> {
  // The page's world answers an event of ours, because each JavaScript world has its own `setTimeout`.
  const question = `tollbook-${randomToken()}`
  const limits = `${dueMsMax}, ${setMsMax}, ${setAfterLoadMsMax}`
  await page.evaluateOnNewDocument(`(${trackTimers})(${JSON.stringify(question)}, ${limits})`)
  return {
    areDue: async (world) => (await world.run(askPage, `${question}-due`)) === true,
    areSet: async (world) => (await world.run(askPage, `${question}-set`)) === true,
  }
}

// A proxy, so that the functions still look native to scripts that check this.
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
