import { Piscina } from 'piscina'
import { z } from 'zod'
import type { QrOrder } from './qrImage.ts'

/** Threads that draw QR codes, so that a large one does not stop the event loop for everybody else. */
export interface QrPool {
  draw(order: QrOrder, signal: AbortSignal): Promise<string>
  /** More is waiting than could be drawn before its deadline. */
  isBusy(): boolean
  close(): Promise<void>
}

// Two threads on two cores would starve the event loop they are meant to spare. At 100 ms for the largest code, 200
// waiting are drawn within the deadline of an attempt.
const threads = 1
const waitingMax = 200
// Drawing the largest code takes 60 MB; a runaway is stopped before it takes the process with it.
const resourceLimits = { maxOldGenerationSizeMb: 256 }

const dataUri = z.string().startsWith('data:image/')

export function createQrPool(): QrPool {
  const pool = new Piscina<QrOrder, unknown>({
    filename: new URL('./qrWorker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    maxQueue: waitingMax,
    resourceLimits,
  })
  return {
    draw: async (order, signal) => dataUri.parse(await pool.run(order, { signal })),
    isBusy: () => pool.queueSize >= waitingMax / 2,
    close: () => pool.destroy(),
  }
}
