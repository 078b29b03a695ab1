import { qrImage, type QrOrder } from './qrImage.ts'

/** Entry point of a worker thread of `qrPool.ts`. */
export default function work(order: QrOrder): Promise<string> {
  return qrImage(order)
}
