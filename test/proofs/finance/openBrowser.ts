import type { Browser } from 'puppeteer'
import { Fault } from '@tollbook/core/fault'
import { systemClock } from '@tollbook/core/clock'
import { findChromiums } from '../../../src/rendering/chromium.ts'
import { launchModesHere, launchBrowser } from '../../../src/rendering/launchBrowser.ts'

/** A real browser as the service finds it, for our own pages: it may reach loopback. */
export async function openBrowser(): Promise<{ readonly browser: Browser; end(): Promise<void> }> {
  const { signal } = new AbortController()
  let last: unknown
  for await (const chromium of findChromiums(process.env['CHROMIUM_PATH'], signal)) {
    for (const mode of launchModesHere()) {
      try {
        return await launchBrowser({ chromium, mode }, { clock: systemClock, guardArguments: [], signal })
      } catch (error) {
        last = error
      }
    }
  }
  throw new Fault('no browser can be started on this machine', { cause: last, retryable: false })
}
