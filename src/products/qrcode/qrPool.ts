import { Piscina } from 'piscina'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { type QrOrder, qrImage } from './qrImage.ts'
import { utf8ByteCount } from '../../product/text.ts'
import { threadArguments } from '../../sourcing/threadArguments.ts'

/** Draws large QR codes in a worker thread, so that they do not block the event loop. */
export interface QrPool {
  draw(order: QrOrder, signal: AbortSignal): Promise<string>
  /** True if half of the queue is in use. New orders are then refused before payment. */
  isBusy(): boolean
  close(): Promise<void>
}

// One thread, because two threads on two cores would starve the event loop. The largest code takes about 27 ms, so a
// full queue takes about 5 s.
const threads = 1
const waitingMax = 200
// Memory limit of a thread. It stops a runaway thread before it exhausts the memory of the process.
const resourceLimits = { maxOldGenerationSizeMb: 256 }

// Codes up to this size are drawn directly, because drawing them takes no longer than the transfer to a thread and
// back.
const small = { dataBytes: 62, size: 256 }

const dataUri = z.string().startsWith('data:image/')

export function createQrPool(): QrPool {
  const pool = new Piscina<QrOrder, unknown>({
    filename: new URL('./qrWorker.ts', import.meta.url).href,
    // The thread starts with the first large code and then stays: a process that draws none saves its start and memory.
    minThreads: 0,
    maxThreads: threads,
    maxQueue: waitingMax,
    idleTimeout: Infinity,
    resourceLimits,
    execArgv: [...threadArguments],
  })
  return {
    async draw(order, signal) {
      if (isSmall(order)) return qrImage(order)
      // Many callers can pass `isBusy` at the same moment.
      if (pool.queueSize >= waitingMax) throw new Fault('too many QR codes are being drawn', { retryable: true })
      return dataUri.parse(await pool.run(order, { signal }))
    },
    isBusy: () => pool.queueSize >= waitingMax / 2,
    close: () => pool.destroy(),
  }
}

function isSmall({ data, size }: QrOrder): boolean {
  return size <= small.size && utf8ByteCount(data) <= small.dataBytes
}
