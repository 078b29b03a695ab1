import { Piscina } from 'piscina'
import { z } from 'zod'
import { type QrOrder, qrImage } from './qrImage.ts'
import { utf8ByteCount } from '../../product/text.ts'
import { threadArguments } from '../../sourcing/threadArguments.ts'

/** Threads that draw QR codes, so that a large code does not block the event loop. */
export interface QrPool {
  draw(order: QrOrder, signal: AbortSignal): Promise<string>
  /** True if the queue is too long for the pool to draw it before the deadline. */
  isBusy(): boolean
  close(): Promise<void>
}

// Use one thread: two threads on two cores would starve the event loop. At 27 ms for the largest code, the thread
// draws 200 orders before the deadline of an attempt.
const threads = 1
const waitingMax = 200
// Drawing the largest code takes some 10 MB. The limit stops a runaway thread before it exhausts the process.
const resourceLimits = { maxOldGenerationSizeMb: 256 }

// 0.2 ms: as long as handing an order to a thread and the picture back.
const small = { dataBytes: 62, size: 256 }

const dataUri = z.string().startsWith('data:image/')

/** Draws all but small pictures in threads, so that large ones do not delay other requests. */
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
    draw: async (order, signal) => (isSmall(order) ? qrImage(order) : dataUri.parse(await pool.run(order, { signal }))),
    isBusy: () => pool.queueSize >= waitingMax / 2,
    close: () => pool.destroy(),
  }
}

function isSmall({ data, size }: QrOrder): boolean {
  return size <= small.size && utf8ByteCount(data) <= small.dataBytes
}
