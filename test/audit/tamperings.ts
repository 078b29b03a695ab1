import { tamperedBytes } from './tamperedBytes.ts'
import { tamperedAfterAnswer } from './tamperedAfterAnswer.ts'
import { tamperedDollars } from './tamperedDollars.ts'
import { tamperedReports } from './tamperedReports.ts'
import { tamperedRules } from './tamperedRules.ts'
import { tamperedSeals } from './tamperedSeals.ts'
import { tamperedShapes } from './tamperedShapes.ts'
import { tamperedStreams } from './tamperedStreams.ts'
import { tamperedTables } from './tamperedTables.ts'
import { tamperedTabs } from './tamperedTabs.ts'
import type { Tampering } from './tampering.ts'

/** Every way of tampering with a live ledger. */
export const tamperings: readonly Tampering[] = [
  ...tamperedBytes,
  ...tamperedRules,
  ...tamperedAfterAnswer,
  ...tamperedStreams,
  ...tamperedTables,
  ...tamperedTabs,
  ...tamperedReports,
  ...tamperedSeals,
  ...tamperedShapes,
  ...tamperedDollars,
]
