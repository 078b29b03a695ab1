import type { Attack } from './attack.ts'
import { sendOpenLoop } from './openLoop.ts'

/** Multiple of the capacity. */
export const attackFactor = 10

export const quoteFlood: Attack = {
  name: `quotes at ${attackFactor} × capacity`,
  start: (target) =>
    sendOpenLoop(target, attackFactor * target.capacityPerSecond, () => ({
      method: 'GET',
      path: '/api/data/crypto?symbol=BTC',
      headers: { 'x-wallet-address': target.wallet },
    })),
}
