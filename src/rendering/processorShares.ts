import { readdir } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import type { Browser, CDPSession } from 'puppeteer'

/*
 * A page that computes without end keeps a processor busy until its deadline, and other pages would not be ready in
 * time. So busy page processes get the lowest priority (decision 0008).
 */

const watchEveryMs = 250
// An ordinary page needs less processor time.
const fullShareSeconds = 0.5

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
      // Ignore the error: the browser is ending, and its jobs fail for that reason.
      .catch(() => undefined)
      .finally(() => (isAsking = false))
  }, watchEveryMs)
  return { stop: () => clearInterval(watching) }
}

/**
 * Lowers the priority of each thread, because on Linux each thread has a separate priority, and each worker of a page
 * has a thread.
 */
async function lowerPriority(pid: number): Promise<void> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [String(pid)])
  for (const thread of threads) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW)
    } catch {
      // Ignore the error: the thread has ended.
    }
  }
}
