import { readdirSync, readFileSync } from 'node:fs'
import { systemClock } from '@tollbook/core/clock'
import { describe, expect, test } from 'vitest'
import { openBrowserPool } from '../../src/rendering/browserPool.ts'
import { silentLog } from '../../src/machine/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { browsersOf, renderersOf } from './testRenderer.ts'

const pool = openBrowserPool({
  clock: systemClock,
  log: silentLog,
  chromiumPath: undefined,
  guardArguments: [],
  jobsPerBrowserMax: 10,
})
afterFile(() => pool.close())
await awaitThat('a browser is started or not', () => !/being started/.test(pool.whyUnavailable() ?? ''))
const lowest = 19

/** Nice value of each thread. */
function prioritiesOf(pid: string): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    })
  } catch {
    // It has ended meanwhile.
    return []
  }
}

describe.skipIf(process.platform !== 'linux' || pool.whyUnavailable() !== undefined)('a page', () => {
  test('that computes without end gets the lowest priority, workers and all, and other pages keep the ordinary one', async () => {
    const { browser } = await pool.take()
    const ordinary = await browser.newPage()
    await ordinary.setContent('<h1>Ordinary</h1>')
    const busy = await browser.newPage()
    const loop = `new Worker(URL.createObjectURL(new Blob(['for(;;);'])))`
    await busy.setContent(`<script>${loop}; ${loop}; setTimeout(() => { for (;;); }, 100)</script>`)
    const pages = () => renderersOf(browsersOf(process.pid)).map(prioritiesOf)
    const isLowered = (threads: readonly number[]) => threads.length > 0 && threads.every((nice) => nice === lowest)
    await awaitThat('every thread of the busy page has the lowest priority', () => pages().some(isLowered))
    expect(pages().filter((threads) => !threads.includes(lowest)).length).toBeGreaterThan(0)
  })

  test('has a process that is sandboxed and not root', async () => {
    const { browser, giveBack } = await pool.take()
    const page = await browser.newPage()
    const [pid] = renderersOf(browsersOf(process.pid))
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\t(?!0\t)/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    await page.close()
    giveBack('sound')
  })
})
