import type { Attack } from './attack.ts'
import { idleConnections } from './idleConnections.ts'
import { jsonBombs } from './jsonBombs.ts'
import { junkProofs } from './junkProofs.ts'
import { quoteFlood } from './quoteFlood.ts'
import { slowBodies } from './slowBodies.ts'
import { unreadPipelines } from './unreadPipelines.ts'

export const allAttacks: readonly Attack[] = [
  slowBodies,
  idleConnections,
  unreadPipelines,
  jsonBombs,
  junkProofs,
  quoteFlood,
]
