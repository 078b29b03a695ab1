import type { Attack } from './attack.ts'
import { sendOpenLoop } from './openLoop.ts'

const factor = 10

export const quoteFlood: Attack = {
  name: `quotes at ${factor} × capacity`,
  start: (target) =>
    sendOpenLoop(target, factor * target.capacityPerSecond, () => ({
      method: 'GET',
      path: '/api/data/crypto?symbol=BTC',
      headers: { 'x-wallet-address': target.wallet },
    })),
}
