import { tamperedBytes } from './tamperedBytes.ts'
import { tamperedGaps } from './tamperedGaps.ts'
import { tamperedLives } from './tamperedLives.ts'
import { tamperedRules } from './tamperedRules.ts'
import { tamperedSeals, tamperedTables } from './tamperedTables.ts'
import type { Tampering } from './tampering.ts'

/** Every way of tampering with a live book. */
export const tamperings: readonly Tampering[] = [
  ...tamperedBytes,
  ...tamperedRules,
  ...tamperedLives,
  ...tamperedGaps,
  ...tamperedTables,
  ...tamperedSeals,
]
