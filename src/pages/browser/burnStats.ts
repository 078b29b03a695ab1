import type { BurnStats } from '../../reports/burnStats.ts'
import { dataOf, send, wordsOf } from './api.ts'

const refreshMs = 30_000

/** Refreshes the figures every 30 s. If this fails, the earlier figures stay, and `status` shows the error. */
export async function followBurnStats(show: (stats: BurnStats) => void, status: HTMLElement): Promise<void> {
  const refresh = async () => {
    try {
      show(await dataOf<BurnStats>(await send('api/token/burn-stats', { cache: 'no-store' })))
    } catch (error) {
      status.textContent = `The figures are not available now: ${wordsOf(error)}.`
    }
  }
  setInterval(() => void refresh(), refreshMs)
  await refresh()
}
