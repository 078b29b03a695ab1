import { readdir } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import type { Browser, CDPSession } from 'puppeteer'

/*
 * A page that computes without end keeps a processor busy until its deadline, and ten of them starve all other pages.
 * With 12 attackers, 65 % of honest pages were not ready in time. So a process that has computed for a while gets the
 * lowest priority (decision 0008).
 */

const watchEveryMs = 250
// Processor time at full priority. An ordinary page needs 0.2 s.
const fullShareSeconds = 0.5

/** Lowers the priority of busy page processes until `stop` is called. */
export function watchProcessors(browser: Browser): { stop(): void } {
  let session: Promise<CDPSession> | undefined
  let isAsking = false
  const watch = async (): Promise<void> => {
    session ??= browser.target().createCDPSession()
    const { processInfo } = await (await session).send('SystemInfo.getProcessInfo')
    for (const { type, id, cpuTime } of processInfo)
      if (type === 'renderer' && cpuTime > fullShareSeconds) await lowerPriority(id)
  }
  const watching = setInterval(() => {
    if (isAsking) return
    isAsking = true
    watch()
      // The browser is ending, and its jobs fail by themselves.
      .catch(() => undefined)
      .finally(() => (isAsking = false))
  }, watchEveryMs)
  return { stop: () => clearInterval(watching) }
}

/** Lowers every thread: on Linux each thread has its own priority, and each worker of a page has its own thread. */
async function lowerPriority(pid: number): Promise<void> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [String(pid)])
  for (const thread of threads) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW)
    } catch {
      // The thread has ended.
    }
  }
}
