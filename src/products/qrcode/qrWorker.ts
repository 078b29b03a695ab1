import { qrImage, type QrOrder } from './qrImage.ts'

/** Draws a QR code. This is the entry point of a worker thread of `qrPool.ts`. */
export default function work(order: QrOrder): Promise<string> {
  return qrImage(order)
}
