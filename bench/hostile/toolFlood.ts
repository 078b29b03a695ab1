import { toolRequest } from '../../test/proofs/callTool.ts'
import type { Attack } from './attack.ts'
import { sendOpenLoop } from './openLoop.ts'
import { attackFactor } from './quoteFlood.ts'

/** The flood of quotes, by unpaid calls of the tool. */
export const toolFlood: Attack = {
  name: `unpaid calls of a tool at ${attackFactor} × capacity`,
  start: (target) =>
    sendOpenLoop(target, attackFactor * target.capacityPerSecond, () =>
      toolRequest({ name: 'data_crypto', arguments: { symbol: 'BTC' }, meta: { 'tollbook/wallet': target.wallet } }),
    ),
}
