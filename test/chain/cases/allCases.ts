import { burnCases } from './burnCases.ts'
import { landingCases } from './landingCases.ts'
import { layoutCases } from './layoutCases.ts'
import { passingCases } from './passingCases.ts'
import { transferCases } from './transferCases.ts'
import type { VerificationCase } from './verificationCase.ts'
import { walletCases } from './walletCases.ts'

/** Everything that is tried with each kind of mint, in the order of the rules. */
export const allCases: readonly VerificationCase[] = [
  ...landingCases,
  ...walletCases,
  ...burnCases,
  ...transferCases,
  ...layoutCases,
  ...passingCases,
]
