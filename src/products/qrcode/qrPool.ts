import { Piscina } from 'piscina'
import { z } from 'zod'
import type { QrOrder } from './qrImage.ts'
import { threadArguments } from '../../sourcing/threadArguments.ts'

/** Threads that draw QR codes, so that a large code does not block the event loop. */
export interface QrPool {
  draw(order: QrOrder, signal: AbortSignal): Promise<string>
  /** True when the queue is longer than the pool can draw before the deadline. */
  isBusy(): boolean
  close(): Promise<void>
}

// Two threads on two cores would starve the event loop that they relieve. At 100 ms for the largest code, 200 orders are
// drawn within the deadline of an attempt.
const threads = 1
const waitingMax = 200
// Drawing the largest code takes 60 MB. The limit stops a runaway thread before it exhausts the process.
const resourceLimits = { maxOldGenerationSizeMb: 256 }

const dataUri = z.string().startsWith('data:image/')

/** Draws in threads, so that large pictures do not delay other requests. */
export function createQrPool(): QrPool {
  const pool = new Piscina<QrOrder, unknown>({
    filename: new URL('./qrWorker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    maxQueue: waitingMax,
    resourceLimits,
    execArgv: [...threadArguments],
  })
  return {
    draw: async (order, signal) => dataUri.parse(await pool.run(order, { signal })),
    isBusy: () => pool.queueSize >= waitingMax / 2,
    close: () => pool.destroy(),
  }
}
